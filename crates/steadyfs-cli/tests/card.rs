//! Images of cards, and cards of this machine: times of a named device, their health, and a
//! volume on a loop device.

use crate::common::{Bench, content, text};

/// Makes a volume on an image of a card, with a file.
fn card(name: &str) -> Bench {
    let bench = Bench::new(name);
    bench.write("file", &content(1, 300_000));
    bench.ok("format card.img --block --size 64MiB");
    bench.ok("put card.img file /");
    bench
}

#[test]
fn a_named_card_tells_the_time_of_what_is_done_to_its_image() {
    let bench = card("card-times");
    let told = |device: &str| {
        let output = bench.run(&format!("cat card.img file --stats --device {device}"));
        assert!(output.status.success() && output.stdout == content(1, 300_000));
        text(&output.stderr)
    };
    let [industrial, disk] = ["sd-industrial", "ssd-sata"].map(told);
    assert!(industrial.contains(" ms on sd-industrial"), "{industrial}");
    assert!(disk.contains(" on ssd-sata") && disk != industrial, "{disk}");
    assert_eq!(told("sd-industrial"), industrial, "the same each time");
    let written = bench.run("put card.img file /copy --stats --device sd-industrial");
    assert!(
        written.status.success() && text(&written.stderr).contains(" flushes; "),
        "{}",
        text(&written.stderr)
    );
    // A device of raw flash has no sectors, and the image of a chip is no card.
    assert!(
        bench.fails("ls card.img --device mt29f1g01abafd").contains("is for images of raw chips")
    );
    bench.ok("format chip.img --device nand.toml");
    assert!(
        bench
            .fails("ls chip.img --device sd-industrial")
            .contains("is the image of a raw chip; --device sd-industrial")
    );
    let small = include_str!("../../steadyfs-sim/profiles/sd-industrial.toml");
    let small = small
        .replace("\"sd-industrial\"", "\"small\"")
        .replace("capacity_mib = 4096", "capacity_mib = 64");
    bench.write("small.toml", small.replace("log_kib = 327680", "log_kib = 16384").as_bytes());
    bench.ok("format large.img --block --size 128MiB");
    assert!(
        bench
            .fails("ls large.img --device small.toml")
            .contains("the image has 128 MiB, and small has 64 MiB")
    );
}

#[test]
fn health_of_a_card_says_what_it_does_not_tell() {
    let bench = card("card-health");
    let health = bench.json("health card.img --json -");
    assert_eq!(
        (&health["managed"], &health["device_life_percent"]),
        (&true.into(), &serde_json::Value::Null)
    );
    let told = bench.ok("health card.img");
    for line in [
        "Units",
        "of 256 KiB",
        "a card or disk replaces",
        "Weak blocks     not reported",
        "Life used       not reported",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(!bench.ok("health card.img --endurance 3000").contains("Life used       not reported"));
}

/// Mounts nothing. A loop device belongs to the machine, so the test makes one only where that is
/// permitted, and returns it.
#[cfg(target_os = "linux")]
#[test]
fn a_volume_on_a_block_device_is_that_of_its_file() {
    use std::process::Command;
    const NAME: &str = "card::a_volume_on_a_block_device_is_that_of_its_file";
    /// A loop device that is returned even if a test fails.
    struct Loop(String);
    impl Drop for Loop {
        fn drop(&mut self) {
            let _ = Command::new("losetup").args(["--detach", &self.0]).status();
        }
    }
    crate::common::namespace::run(NAME, || {
        let bench = Bench::new("card-loop");
        let (file, back) = (content(1, 300_000), "back");
        bench.write("file", &file);
        std::fs::File::create(bench.path("card.img")).unwrap().set_len(64 << 20).unwrap();
        let made =
            Command::new("losetup").args(["--find", "--show"]).arg(bench.path("card.img")).output();
        let device = match made {
            Ok(output) if output.status.success() => Loop(text(&output.stdout).trim().to_string()),
            other => {
                let why = other.map_or_else(
                    |error| error.to_string(),
                    |output| text(&output.stderr).trim().to_string(),
                );
                return crate::common::namespace::say(&format!(
                    "SKIPPED {NAME}: needs a loop device: {why}"
                ));
            }
        };
        let path = &device.0;
        assert!(
            bench
                .fails(&format!("format {path} --force --device sd-industrial"))
                .contains("is a device of this machine")
        );
        bench.ok(&format!("format {path} --force"));
        bench.ok(&format!("put {path} file /"));
        assert!(
            bench
                .fails(&format!("ls {path} --device sd-industrial"))
                .contains("is a chip of this machine")
        );
        assert!(bench.ok(&format!("check {path}")).ends_with(": sound\n"));
        assert!(bench.ok(&format!("health {path}")).contains("can be written"));
        drop(device);
        bench.ok(&format!("get card.img file {back}"));
        assert!(bench.read(back) == file, "the file of the device has it all");
    });
}
