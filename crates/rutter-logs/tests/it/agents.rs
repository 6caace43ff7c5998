//! Every line of `fixtures/agents.txt` is a case.

use rutter_logs::agents::recognize;

#[test]
fn recognizes_user_agents() {
    let text = std::fs::read_to_string(crate::fixture("agents.txt")).unwrap();
    let mut n_cases = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.splitn(3, '\t').collect();
        let [class, name, user_agent] = cells.as_slice() else { panic!("{line}") };
        let known = recognize(user_agent);
        let found = known.agent.map_or("-", |agent| agent.name);
        assert_eq!((known.class.name(), found), (*class, *name), "{user_agent}");
        n_cases += 1;
    }
    assert!(40 <= n_cases);
}
