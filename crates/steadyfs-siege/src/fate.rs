//! The state of a page or block after a power cut met it.

use std::rc::Rc;

use steadyfs::media::TAG_BYTES;

use crate::page::{Content, Face, Page};

/// Style of the pages that a cut leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Every page is unsteady.
    Unsteady,
    /// Any state that the contract allows.
    Mixed,
}

/// Draws one face by weight.
pub fn pick<'a>(faces: &'a [(u32, Face)], rng: &mut fastrand::Rng) -> &'a Face {
    let total: u32 = faces.iter().map(|(weight, _)| weight).sum();
    let mut left = rng.u32(..total);
    for (weight, face) in faces {
        if left < *weight {
            return face;
        }
        left -= weight;
    }
    unreachable!("the weights add up")
}

/// Makes a damaged page: its data may be any bytes, and its tag may read as anything, including
/// the tag of another recent page.
pub fn torn(whole: &Content, recent_tags: &[[u8; TAG_BYTES]], rng: &mut fastrand::Rng) -> Content {
    let mut page = whole.clone();
    let bytes = page.data.len();
    match rng.u32(..5) {
        0 => page.data[rng.usize(..bytes)..].fill(0xFF),
        1 => page.data.iter_mut().for_each(|byte| *byte |= rng.u8(..)),
        2 => rng.fill(&mut page.data),
        3 => page.data[rng.usize(..bytes)] ^= 1 << rng.u32(..8),
        _ => {}
    }
    match rng.u32(..8) {
        0 => page.tag = [0xFF; TAG_BYTES],
        1 => page.tag[rng.usize(..TAG_BYTES)..].fill(0xFF),
        2 => page.tag.iter_mut().for_each(|byte| *byte |= rng.u8(..)),
        3 => rng.fill(&mut page.tag),
        4 if !recent_tags.is_empty() => page.tag = recent_tags[rng.usize(..recent_tags.len())],
        5 | 6 if !recent_tags.is_empty() => {
            // A part of another tag: for example its sequence number with this page's kind, or
            // the reverse.
            let other = recent_tags[rng.usize(..recent_tags.len())];
            let from = rng.usize(..TAG_BYTES);
            let to = rng.usize(from..TAG_BYTES) + 1;
            page.tag[from..to].copy_from_slice(&other[from..to]);
        }
        _ => {}
    }
    if page == *whole {
        page.data[rng.usize(..bytes)] ^= 1 << rng.u32(..8);
    }
    page
}

/// Makes a page that shows another face at each look. The whole content may be among the faces.
pub fn unsteady(
    whole: &Rc<Content>,
    recent_tags: &[[u8; TAG_BYTES]],
    rng: &mut fastrand::Rng,
) -> Page {
    let faces = vec![
        (rng.u32(..6), Face::Shows(whole.clone())),
        (rng.u32(1..5), Face::Unreadable),
        (rng.u32(..4), Face::Blank),
        (rng.u32(..3), Face::Shows(Rc::new(torn(whole, recent_tags, rng)))),
        (rng.u32(..2), Face::Shows(Rc::new(torn(whole, recent_tags, rng)))),
    ];
    Page::Unsteady(Rc::new(faces))
}

/// Draws the state of a page whose program was cut.
pub fn cut_program(
    whole: &Rc<Content>,
    was_fit: bool,
    style: Style,
    recent_tags: &[[u8; TAG_BYTES]],
    rng: &mut fastrand::Rng,
) -> Page {
    if style == Style::Unsteady {
        return unsteady(whole, recent_tags, rng);
    }
    match rng.u32(..10) {
        0 if was_fit => Page::Blank,
        1 | 2 if was_fit => Page::Whole(whole.clone()),
        0 | 3 => Page::Touched,
        4 => Page::Lost,
        1 | 5 | 6 => Page::Torn(Rc::new(torn(whole, recent_tags, rng))),
        _ => unsteady(whole, recent_tags, rng),
    }
}

/// Maximum number of faces of a page that was cut again and again.
const FACES_MAX: usize = 16;

/// Result of a program of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// All bytes are programmed.
    All,
    /// No byte is programmed.
    Nothing,
    /// Some bits of the bytes are programmed.
    Some,
}

/// Returns a page after a program of bytes. The page shows one of `ends`, drawn again at each
/// look.
pub fn program_bytes(
    before: &Page,
    blank: &Content,
    at: usize,
    bytes: &[u8],
    ends: &[Bytes],
    rng: &mut fastrand::Rng,
) -> Page {
    let mut with = |content: &Content, end: Bytes| {
        let mut content = content.clone();
        for (held, &new) in content.data[at..].iter_mut().zip(bytes) {
            *held &= match end {
                Bytes::All => new,
                Bytes::Nothing => 0xFF,
                Bytes::Some => new | rng.u8(..),
            };
        }
        Rc::new(content)
    };
    let old = match before {
        Page::Lost => return Page::Lost,
        Page::Unsteady(faces) => {
            let change = |face: &Face, end| match face {
                Face::Shows(content) => Face::Shows(with(content, end)),
                Face::Blank => Face::Shows(with(blank, end)),
                Face::Unreadable => Face::Unreadable,
            };
            let mut change = change;
            let faces = faces
                .iter()
                .filter(|(weight, _)| *weight > 0)
                .flat_map(|(weight, face)| ends.iter().map(move |&end| (weight, face, end)));
            let mut faces: Vec<_> =
                faces.map(|(&weight, face, end)| (weight, change(face, end))).collect();
            // Each cut multiplies the faces.
            rng.shuffle(&mut faces);
            faces.truncate(FACES_MAX);
            return Page::Unsteady(Rc::new(faces));
        }
        Page::Blank | Page::Touched => blank,
        Page::Whole(content) | Page::Torn(content) => content,
    };
    let is_sound = matches!(before, Page::Blank | Page::Whole(_));
    match ends {
        [end @ (Bytes::All | Bytes::Nothing)] if is_sound => Page::Whole(with(old, *end)),
        [end] => Page::Torn(with(old, *end)),
        ends => Page::Unsteady(Rc::new(
            ends.iter().map(|&end| (1, Face::Shows(with(old, end)))).collect(),
        )),
    }
}

/// Draws the state of a page that was touched before and is programmed again.
pub fn overprogrammed(
    whole: &Rc<Content>,
    recent_tags: &[[u8; TAG_BYTES]],
    rng: &mut fastrand::Rng,
) -> Page {
    match rng.u32(..3) {
        0 => Page::Lost,
        1 => unsteady(whole, recent_tags, rng),
        _ => Page::Torn(Rc::new(torn(whole, recent_tags, rng))),
    }
}

/// Draws the state of a block whose erase was cut. Each page has its own fate.
pub fn cut_erase(
    pages: &mut [Page],
    page_bytes: usize,
    style: Style,
    recent_tags: &[[u8; TAG_BYTES]],
    rng: &mut fastrand::Rng,
) {
    let whole_block = rng.u32(..8);
    for page in pages {
        if style == Style::Mixed && whole_block == 0 {
            continue; // the erase had not begun
        }
        if style == Style::Mixed && whole_block == 1 {
            *page = Page::Touched;
            continue;
        }
        *page = cut_erase_of_page(page, page_bytes, style, recent_tags, rng);
    }
}

fn cut_erase_of_page(
    page: &Page,
    page_bytes: usize,
    style: Style,
    recent_tags: &[[u8; TAG_BYTES]],
    rng: &mut fastrand::Rng,
) -> Page {
    let old = match page {
        Page::Whole(content) | Page::Torn(content) => content.clone(),
        Page::Unsteady(faces) => match pick(faces, rng) {
            Face::Shows(content) => content.clone(),
            _ => Rc::new(Content::blank(page_bytes)),
        },
        _ => Rc::new(Content::blank(page_bytes)),
    };
    match if style == Style::Unsteady { 9 } else { rng.u32(..10) } {
        0..3 => match page {
            Page::Blank => Page::Touched,
            page => page.clone(),
        },
        3 | 4 => Page::Touched,
        5 => Page::Lost,
        6 => Page::Torn(Rc::new(torn(&old, recent_tags, rng))),
        _ => unsteady(&old, recent_tags, rng),
    }
}
