use super::*;

#[test]
fn a_score_leads_to_a_wake_a_question_or_silence() {
    let alone = Dial::Balanced.thresholds(false);
    let with_model = Dial::Balanced.thresholds(true);
    let all =
        |thresholds: Thresholds| [0.27, 0.26, 0.07, 0.06].map(|score| thresholds.would(score));
    assert_eq!(all(alone), [Would::Wake, Would::Wake, Would::Wake, Would::Silent]);
    assert_eq!(all(with_model), [Would::Wake, Would::Ask, Would::Ask, Would::Silent]);
}
