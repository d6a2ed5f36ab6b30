//! Which forms of cron fields are accepted.

use crate::schedules::tests::*;

/// The next three firings in UTC after Wednesday, 2026-02-18, 09:00.
fn next(fields: &str) -> [String; 3] {
    firings(fields, "UTC", "2026-02-18T09:00:00Z", 3).try_into().unwrap()
}

#[test]
fn every_accepted_form_fires_at_its_times() {
    let table = [
        ("* * * * *", ["2026-02-18T09:01", "2026-02-18T09:02", "2026-02-18T09:03"]),
        ("0 9 * * *", ["2026-02-19T09:00", "2026-02-20T09:00", "2026-02-21T09:00"]),
        ("\t05   09 * *\t* ", ["2026-02-18T09:05", "2026-02-19T09:05", "2026-02-20T09:05"]),
        ("*/15 * * * *", ["2026-02-18T09:15", "2026-02-18T09:30", "2026-02-18T09:45"]),
        ("*/40 * * * *", ["2026-02-18T09:40", "2026-02-18T10:00", "2026-02-18T10:40"]),
        ("1-30/14 9 * * *", ["2026-02-18T09:01", "2026-02-18T09:15", "2026-02-18T09:29"]),
        ("*/30,10-12/2 * * * *", ["2026-02-18T09:10", "2026-02-18T09:12", "2026-02-18T09:30"]),
        ("0,30 9-10 * * *", ["2026-02-18T09:30", "2026-02-18T10:00", "2026-02-18T10:30"]),
        ("0 9 * * 1-5", ["2026-02-19T09:00", "2026-02-20T09:00", "2026-02-23T09:00"]),
        ("0 9 * * Mon-FRI", ["2026-02-19T09:00", "2026-02-20T09:00", "2026-02-23T09:00"]),
        ("0 9 * * 0", ["2026-02-22T09:00", "2026-03-01T09:00", "2026-03-08T09:00"]),
        ("0 9 * * 7", ["2026-02-22T09:00", "2026-03-01T09:00", "2026-03-08T09:00"]),
        ("0 9 * * sun-sun", ["2026-02-22T09:00", "2026-03-01T09:00", "2026-03-08T09:00"]),
        ("0 9 * * sat-Sun", ["2026-02-21T09:00", "2026-02-22T09:00", "2026-02-28T09:00"]),
        ("0 9 * * 6-7", ["2026-02-21T09:00", "2026-02-22T09:00", "2026-02-28T09:00"]),
        ("0 9 * * sun,tue", ["2026-02-22T09:00", "2026-02-24T09:00", "2026-03-01T09:00"]),
        ("0 0 1 jan,JUL *", ["2026-07-01T00:00", "2027-01-01T00:00", "2027-07-01T00:00"]),
        ("0 0 31 * *", ["2026-03-31T00:00", "2026-05-31T00:00", "2026-07-31T00:00"]),
        ("0 0 1 */4 *", ["2026-05-01T00:00", "2026-09-01T00:00", "2027-01-01T00:00"]),
        ("0 0 1 apr-jun/2 *", ["2026-04-01T00:00", "2026-06-01T00:00", "2027-04-01T00:00"]),
        // If both day fields are restricted, one match is enough.
        ("0 0 20,21 * mon", ["2026-02-20T00:00", "2026-02-21T00:00", "2026-02-23T00:00"]),
        ("0 0 30 2 mon", ["2026-02-23T00:00", "2027-02-01T00:00", "2027-02-08T00:00"]),
        // If either day field starts with a star, both must match.
        ("0 0 */2 * mon", ["2026-02-23T00:00", "2026-03-09T00:00", "2026-03-23T00:00"]),
        ("0 0 1-7 * */7", ["2026-03-01T00:00", "2026-04-05T00:00", "2026-05-03T00:00"]),
        ("0 0 29 2 *", ["2028-02-29T00:00", "2032-02-29T00:00", "2036-02-29T00:00"]),
        ("0 0 29 2 */7", ["2032-02-29T00:00", "2060-02-29T00:00", "2088-02-29T00:00"]),
    ];
    for (fields, expected) in table {
        assert_eq!(next(fields), expected, "{fields}");
    }
}

#[test]
fn leap_days_fire_although_2100_has_none() {
    let leap_days = firings("0 0 29 2 *", "Europe/Berlin", "2095-01-01T00:00:00Z", 2);
    assert_eq!(leap_days, ["2096-02-28T23:00", "2104-02-28T23:00"]);
    // A leap day on a certain weekday can be forty years away.
    let rarest = firings("0 0 29 2 */7", "UTC", "2088-02-29T00:00:00Z", 2);
    assert_eq!(rarest, ["2128-02-29T00:00", "2156-02-29T00:00"]);
}

#[test]
fn a_firing_is_strictly_after_the_given_time() {
    let hourly = Cron::parse("0 * * * *", "UTC").unwrap();
    let next = |text: &str| hourly.next(at(text)).map(minute).unwrap();
    assert_eq!(next("2026-02-18T08:59:59.999Z"), "2026-02-18T09:00");
    assert_eq!(next("2026-02-18T09:00:00Z"), "2026-02-18T10:00");
    assert_eq!(next("2026-02-18T09:00:00.001Z"), "2026-02-18T10:00");
    assert_eq!(hourly.next(at("5000-12-31T23:30:00Z")), None);
    assert_eq!(hourly.next(Time::from_millis(i64::MAX)), None);
    assert_eq!(hourly.next(Time::from_millis(i64::MIN)), None);
}

#[test]
fn fields_are_trimmed_and_the_zone_gets_its_iana_name() {
    let cron = Cron::parse("  0 9\t*  * MON\n", "europe/berlin").unwrap();
    assert_eq!((cron.fields(), cron.timezone()), ("0 9\t*  * MON", "Europe/Berlin"));
    assert_eq!(Cron::parse("0 9 * * *", "utc").unwrap().timezone(), "UTC");
}

#[test]
fn other_forms_of_a_field_are_refused() {
    let wrong = [
        "",
        "60",
        "+1",
        "-1",
        "1-",
        "-",
        ",",
        "1,,2",
        "1,",
        "*,5",
        "**",
        "*-5",
        "5/15",
        "/5",
        "*/",
        "*/0",
        "*/60",
        "*/5/5",
        "1-2-3",
        "30-10",
        "0-60",
        "001",
        "1.5",
        "?",
        "L",
        "H",
        "a",
        "１",
        "٣",
        "jan",
        "mon",
        "*/-1",
        "1-30/+5",
        "99999999999999999999",
        "0x1",
        "1\u{a0}2",
    ];
    for minute in wrong {
        assert!(Cron::parse(&format!("{minute} * * * *"), "UTC").is_err(), "{minute:?}");
    }
}

#[test]
fn other_forms_of_all_fields_are_refused() {
    let wrong = [
        "",
        " ",
        "*",
        "* * * *",
        "0 * * * * *",
        "0 0 9 * * * 2026",
        "@daily",
        "@reboot",
        "0 9 * * *\n0 10 * * *",
        "0 24 * * *",
        "0 */24 * * *",
        "0 0 0 * *",
        "0 0 32 * *",
        "0 0 L * *",
        "0 0 LW * *",
        "0 0 15W * *",
        "0 0 ? * 1",
        "0 0 * 0 *",
        "0 0 * 13 *",
        "0 0 * dec-jan *",
        "0 0 * mon *",
        "0 0 * january *",
        "0 0 * * 8",
        "0 0 * * jan",
        "0 0 * * mon#2",
        "0 0 * * 5L",
        "0 0 * * +1",
        "0 0 1 * +1",
        "0 0 * * fri-mon",
        "0 0 * * 1-0",
        "0 0 30 2 *",
        "0 0 31 2,4,6,9,11 *",
        "0 0 30-31 feb *",
        "0 0 30 2 */2",
    ];
    for fields in wrong {
        assert!(Cron::parse(fields, "UTC").is_err(), "{fields:?}");
    }
}

#[test]
fn a_refusal_says_what_was_expected() {
    let refusal = |fields: &str| Cron::parse(fields, "UTC").map(|_| ()).unwrap_err();
    let refusals = [
        refusal("@daily"),
        refusal("0 0 9 * * *"),
        refusal("60 9 * * *"),
        refusal("0 22-2 * * *"),
        refusal("0 9 L * *"),
        refusal("0 9 * 13 *"),
        refusal("0 9 * * mon#1"),
        refusal("0 9 30 2 *"),
        refusal(&"1,".repeat(200)),
        refusal(&"1,".repeat(60)),
        Cron::parse("0 9 * * *", "CEST").map(|_| ()).unwrap_err(),
    ];
    // Broken into lines of the width of the code.
    let breaks = [(", a list", ",\n  a list"), (", like", ",\n  like"), (", got", ",\n  got")];
    let lines = breaks.iter().fold(refusals.join("\n"), |text, (from, to)| text.replace(from, to));
    insta::assert_snapshot!(lines, @r#"
    expected the five fields minute, hour, day of month, month and day of week,
      like "0 9 * * 1-5",
      got "@daily"
    expected the five fields minute, hour, day of month, month and day of week,
      like "0 9 * * 1-5",
      got "0 0 9 * * *"
    expected for the minute: *, 0 to 59,
      a list (0,30), an ascending range (10-20) or a step (*/15, 10-40/5),
      got "60"
    expected for the hour: *, 0 to 23,
      a list (9,17), an ascending range (9-17) or a step (*/2, 8-18/2),
      got "22-2"
    expected for the day of month: *, 1 to 31,
      a list (1,15), an ascending range (1-7) or a step (*/2, 1-15/7),
      got "L"
    expected for the month: *, 1 to 12 or jan to dec,
      a list (3,sep), an ascending range (6-8) or a step (*/3),
      got "13"
    expected for the day of week: *, 0 to 7 (0 and 7 are Sunday) or sun to sat,
      a list (mon,thu), an ascending range (1-5) or a step (*/2),
      got "mon#1"
    expected a day that exists in its months,
      got "0 9 30 2 *"
    expected at most 200 bytes,
      got 400
    expected the five fields minute, hour, day of month, month and day of week,
      like "0 9 * * 1-5",
      got "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"…
    expected an IANA time zone like "Europe/Berlin" or "UTC",
      got "CEST"
    "#);
}

#[test]
fn only_names_of_iana_time_zones_are_accepted() {
    for name in [
        "",
        "Berlin",
        "+01:00",
        "CEST",
        "Etc/Unknown",
        "../UTC",
        "Europe/Berlin ",
        "CET-1CEST,M3.5.0,M10.5.0/3",
        "local",
    ] {
        assert!(Cron::parse("0 9 * * *", name).is_err(), "{name}");
    }
    for name in
        ["UTC", "Etc/GMT+5", "America/Argentina/Buenos_Aires", "US/Eastern", "Asia/Kathmandu"]
    {
        assert_eq!(Cron::parse("0 9 * * *", &name.to_lowercase()).unwrap().timezone(), name);
    }
}
