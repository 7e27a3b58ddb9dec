//! The files of a web server, on a read-only mount. Pages are found once and then opened by their
//! inode. A style sheet stays open, and answers are sent in pieces.
//!
//! `cargo run -p steadyfs-drivers --example web_server`

use std::error::Error;
use steadyfs::media::Flash;
use steadyfs::{Access, Config, File, FileSystem, InodeNumber, OpenOptions};
use steadyfs_drivers::nor::{NorChip, Settings};
use steadyfs_sim::nor_spi::{NorSim, NorSpi, NorSpiProfile};

/// Bytes of a piece, which goes to the network at once.
const PIECE_BYTES: usize = 256;

/// The server's files. An inode holds for the life of its file, so each path is looked up once.
struct Server {
    inodes: Vec<(&'static str, InodeNumber)>,
    style: File,
}

impl Server {
    /// Looks the paths up.
    fn new<F: Flash>(
        fs: &mut FileSystem<'_, F>,
        paths: &[&'static str],
    ) -> Result<Self, steadyfs::Error> {
        let mut find = |path| Ok((path, fs.stat(&*format!("www/{path}"))?.inode));
        let inodes =
            paths.iter().map(|&path| find(path)).collect::<Result<_, steadyfs::Error>>()?;
        Ok(Self { inodes, style: fs.open("www/style.css", OpenOptions::READ)? })
    }

    /// Sends a file in pieces. Returns `None` if there is no file of this path.
    fn serve<F: Flash>(
        &mut self,
        fs: &mut FileSystem<'_, F>,
        path: &str,
        mut send: impl FnMut(&[u8]),
    ) -> Result<Option<u64>, steadyfs::Error> {
        if path == "style.css" {
            return Ok(Some(pieces(fs, &mut self.style, &mut send)?));
        }
        let Some(&(_, inode)) = self.inodes.iter().find(|(known, _)| *known == path) else {
            return Ok(None);
        };
        let mut file = fs.open(inode, OpenOptions::READ)?; // without a lookup in a directory
        let sent = pieces(fs, &mut file, &mut send)?;
        fs.close(file)?;
        Ok(Some(sent))
    }
}

fn pieces<F: Flash>(
    fs: &mut FileSystem<'_, F>,
    file: &mut File,
    send: &mut impl FnMut(&[u8]),
) -> Result<u64, steadyfs::Error> {
    let (mut piece, mut at) = ([0; PIECE_BYTES], 0);
    loop {
        let length = fs.read(file, at, &mut piece)?;
        send(&piece[..length]);
        at += length as u64;
        if length < PIECE_BYTES {
            return Ok(at);
        }
    }
}

/// Puts a site on a chip, and serves it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let sim = NorSim::new(NorSpi::new(NorSpiProfile::w25q128jv().with_bytes(1 << 20)));
    let mut flash = NorChip::start(sim.clone(), sim, Settings::DEFAULT)?.into_pages()?;
    let config = Config::for_geometry(&flash.geometry());
    let mut memory = vec![0; config.memory_bytes(&flash.geometry())];
    let paths = ["index.html", "about.html", "status.html"];
    let content = |path: &str| format!("<title>{path}</title>").repeat(100);

    FileSystem::format(&mut flash, &config, &mut memory)?;
    let mut fs = FileSystem::mount(&mut flash, Access::ReadWrite, &mut memory)?;
    fs.create_dir("www")?;
    for path in paths.iter().chain(&["style.css"]) {
        let mut file = fs.open(&*format!("www/{path}"), OpenOptions::CREATE)?;
        fs.write(&mut file, 0, content(path).as_bytes())?;
        fs.close(file)?;
    }
    fs.unmount()?;

    let mut fs = FileSystem::mount(&mut flash, Access::ReadOnly, &mut memory)?;
    let mut server = Server::new(&mut fs, &paths)?;
    for path in ["index.html", "style.css", "status.html", "style.css"] {
        let mut body = Vec::new();
        let sent = server.serve(&mut fs, path, |piece| body.extend_from_slice(piece))?;
        assert_eq!((sent, body), (Some(content(path).len() as u64), content(path).into_bytes()));
        println!("200 {path}");
    }
    assert_eq!(server.serve(&mut fs, "../secret", |_| unreachable!())?, None);
    Ok(())
}
