//! The besieger itself: its chip breaks no rule, its model moves the right nodes, and a seed
//! determines everything.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use steadyfs::Error;
use steadyfs::media::sectors::{SectorDevice, SectorLayout, TagPlace};
use steadyfs::media::{Failure, Flash, Geometry};
use steadyfs_siege::campaign::Campaign;
use steadyfs_siege::card::pages::CardPages;
use steadyfs_siege::card::{Cache, Card, Held};
use steadyfs_siege::chip::Chip;
use steadyfs_siege::fate::Style;
use steadyfs_siege::fault::{Fault, Kind, PageFate};
use steadyfs_siege::loss::{self, Verdict};
use steadyfs_siege::medium::Medium;
use steadyfs_siege::oracle::Oracle;
use steadyfs_siege::strike::Cut;
use steadyfs_siege::tree::Tree;
use steadyfs_siege::view::Partial;
use steadyfs_siege::world::{MediumKind, World};

const GEOMETRY: Geometry =
    Geometry { page_bytes: 256, pages_per_block: 8, block_count: 4, programs_bytes: false };

fn chip() -> Chip {
    Chip::new(GEOMETRY, true, false, 7)
}

fn read(chip: &mut Chip, page: u32) -> Result<(Vec<u8>, [u8; 16]), Failure> {
    let (mut data, mut tag) = (vec![0; 256], [0; 16]);
    chip.read(page, &mut data, &mut tag).map(|()| (data, tag))
}

/// Returns true if the chip reports an action as illegal.
fn is_illegal(action: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(action)).is_err()
}

#[test]
fn the_chip_refuses_what_the_contract_forbids() {
    let mut used = chip();
    used.program(3, &[1; 256], &[2; 16]).unwrap();
    assert!(
        is_illegal(|| _ = used.clone().program(3, &[1; 256], &[2; 16])),
        "a page is programmed twice"
    );
    assert!(
        is_illegal(|| _ = used.clone().program(2, &[1; 256], &[2; 16])),
        "pages are programmed out of order"
    );
    assert!(is_illegal(|| _ = used.clone().program_loaded(4, &[2; 16])), "nothing was loaded");
    assert!(
        is_illegal(|| _ = Chip::new(GEOMETRY, true, true, 7).program(0, &[1; 256], &[2; 16])),
        "nothing was erased"
    );
    let mut bad = chip();
    bad.make_factory_bad(1);
    assert!(is_illegal(|| _ = read(&mut bad, 8)), "a bad block is read");
    used.erase(0).unwrap();
    used.program(0, &[3; 256], &[4; 16]).unwrap();
    assert_eq!(read(&mut used, 0), Ok((vec![3; 256], [4; 16])));
}

#[test]
fn a_cut_page_shows_several_faces_and_holds_no_later_program() {
    let mut faces = BTreeSet::new();
    for seed in 0..20 {
        let mut chip = Chip::new(GEOMETRY, true, false, seed);
        chip.style = Style::Unsteady;
        chip.strikes_mut().arm_cut(Cut::Change(0));
        assert_eq!(chip.program(0, &[1; 256], &[2; 16]), Err(Failure::Device));
        assert_eq!(read(&mut chip, 1), Err(Failure::Device), "there is no power");
        chip.power_on();
        let looks: BTreeSet<_> = (0..50).map(|_| format!("{:?}", read(&mut chip, 0))).collect();
        faces.insert(looks.len());
        chip.program(0, &[5; 256], &[6; 16]).unwrap();
        let is_held = (0..200).all(|_| read(&mut chip, 0) == Ok((vec![5; 256], [6; 16])));
        assert!(!is_held, "a page that was touched holds nothing");
    }
    assert!(faces.len() > 1, "{faces:?}");
}

#[test]
fn a_program_may_be_reported_as_failed_and_hold() {
    let mut chip = chip();
    let fault =
        Fault { kind: Kind::Program, page: PageFate::Holds, ..Fault::read(1, Failure::Device) };
    chip.strikes_mut().arm_fault(fault);
    chip.program(0, &[1; 256], &[2; 16]).unwrap();
    assert_eq!(chip.program(1, &[3; 256], &[4; 16]), Err(Failure::Device));
    assert_eq!(read(&mut chip, 1), Ok((vec![3; 256], [4; 16])));
    chip.program(2, &[5; 256], &[6; 16]).unwrap();
    assert_eq!(chip.strikes().fired(), 1);
}

#[test]
fn the_model_moves_a_directory_with_what_it_holds() {
    let tree = Tree::default().create_dir("a", 1).unwrap().create_dir("b", 2).unwrap();
    let tree = tree.open("a/f", true, false, false, 3).unwrap().write(3, 2, b"xy");
    let moved = tree.rename("a", "b/c").unwrap();
    assert_eq!(moved.at("b/c/f").unwrap().data.as_slice(), b"\0\0xy");
    assert_eq!(tree.rename("a", "a/d"), Err(vec![Error::IntoItself]));
    assert_eq!(tree.rename("b", "a/f/d"), Err(vec![Error::NotADirectory]));
    assert_eq!(tree.remove_dir("a"), Err(vec![Error::NotEmpty]));
}

#[test]
fn old_content_is_told_from_wrong_content_and_from_missing_content() {
    let old = Tree::default().open("f", true, false, false, 1).unwrap().write(1, 0, b"old");
    let new = old.write(1, 0, b"new");
    let mut oracle = Oracle::new();
    oracle.settle(old.into());
    oracle.settle(new.into());
    let look = |bytes: &[u8]| {
        let mut partial = Partial::default();
        partial.sizes.insert("f".to_string(), Some(3));
        partial.pieces.push(("f".to_string(), 0, bytes.to_vec()));
        partial
    };
    assert_eq!(loss::judge(&look(b"new"), &oracle), Verdict::Whole);
    assert!(matches!(loss::judge(&look(b"old"), &oracle), Verdict::Old(_)));
    assert!(matches!(loss::judge(&look(b"odd"), &oracle), Verdict::Wrong(_)));
    let mut missing = look(b"new");
    (missing.pieces, missing.errors, missing.damaged) = (vec![], 1, vec!["f".to_string()]);
    assert_eq!(loss::judge(&missing, &oracle), Verdict::Missing { files: 1, lists: 0 });
}

#[test]
fn a_seed_tells_everything() {
    for (name, medium) in ["transient", "chains", "lives"]
        .into_iter()
        .flat_map(|name| [(name, MediumKind::Chip), (name, MediumKind::Card)])
    {
        let campaign = Campaign::named(name).expect("a campaign");
        let world = World { medium, ..World::default() };
        let runs = [0, 1].map(|_| {
            (0..10).map(|index| format!("{:?}", campaign.run(3, index, world))).collect::<Vec<_>>()
        });
        assert_eq!(runs[0], runs[1], "{name}");
    }
}

fn sector(card: &mut Card, at: u32) -> Result<u8, Failure> {
    let mut bytes = [0; 512];
    card.read(at, &mut [&mut bytes]).map(|()| bytes[0])
}

#[test]
fn a_card_keeps_what_was_flushed_and_the_order_where_it_says_so() {
    let mut is_out_of_order = false;
    for (seed, reorders) in (0..200).flat_map(|seed| [(seed, false), (seed, true)]) {
        let mut card = Card::new(20, Cache { sectors_max: 100, reorders }, false, seed);
        card.write(0, &[&[1; 512]]).unwrap();
        card.flush().unwrap();
        (1..9).for_each(|at| card.write(at, &[&[2; 512]]).unwrap());
        card.strikes(|strikes| strikes.arm_cut(Cut::Change(0)));
        assert_eq!(card.write(9, &[&[2; 512]]), Err(Failure::Device));
        card.power_on();
        assert_eq!(sector(&mut card, 0), Ok(1), "it was flushed");
        let states: Vec<_> = (1..10).map(|at| sector(&mut card, at)).collect();
        let first_lost = states.iter().position(|state| *state != Ok(2)).unwrap_or(9);
        // Behind the first lost sector of a card that keeps the order, every sector holds its old
        // content.
        let is_in_order = states.iter().skip(first_lost + 1).all(|state| *state == Ok(0));
        assert!(is_in_order || reorders, "{states:?}");
        is_out_of_order |= !is_in_order;
    }
    assert!(is_out_of_order);
}

/// A medium that takes pages one by one never shows the result of a cut in a command of several
/// pages.
#[test]
fn pages_of_one_command_fail_together() {
    let layout = SectorLayout {
        first: 0,
        sectors: 200,
        block_sectors: 40,
        page_bytes: 512,
        tags: TagPlace::Beside,
        volume: 1,
    };
    let card = Card::new(200, Cache { sectors_max: 0, reorders: false }, false, 1);
    let mut medium = Medium::Card(Box::new(CardPages::new(card, layout).unwrap()));
    medium.erase(0).unwrap();
    medium.arm_fault(Fault {
        kind: Kind::Group,
        ..Fault::any_program(1, &mut fastrand::Rng::with_seed(1))
    });
    medium.program(0, &[1; 512], &[1; 16]).unwrap();
    medium.program_many(1, &[1; 1024], &[[1; 16]; 2]).unwrap();
    let before = medium.operations().programs;
    assert_eq!(medium.program_many(3, &[1; 2048], &[[1; 16]; 4]), Err(Failure::Device));
    assert_eq!((medium.fired(), medium.operations().programs - before), (1, 1));
}

#[test]
fn a_hidden_sector_shows_again_and_a_spoilt_one_when_it_is_written() {
    let mut card = Card::new(8, Cache { sectors_max: 0, reorders: false }, false, 1);
    card.write(3, &[&[1; 512]]).unwrap();
    card.hide(3, 2, false);
    assert_eq!(
        [0; 3].map(|_| sector(&mut card, 3)),
        [Err(Failure::Uncorrectable), Err(Failure::Uncorrectable), Ok(1)]
    );
    card.spoil(3, Held::Unreadable);
    assert_eq!(sector(&mut card, 3), Err(Failure::Uncorrectable));
    card.write(3, &[&[4; 512]]).unwrap();
    assert_eq!((sector(&mut card, 3), card.strikes(|strikes| strikes.fired())), (Ok(4), 0));
}
