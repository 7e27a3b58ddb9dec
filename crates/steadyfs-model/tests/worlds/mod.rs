//! The checks of the worlds of a model.

/// Makes a test for each world, and the checks for these and other tests: `check`, `holds` and
/// `misses`. `Scope`, `Action`, `Rule` and `Violation` are the types of the model.
macro_rules! worlds {
    ($($name:ident $scope:ident)*) => {
        /// Checks a world. Returns the shortest way to a violation, if there is one.
        ///
        /// Uses one thread, because all states of one depth must come before the states of the
        /// next.
        fn check(scope: &Scope) -> Option<Vec<Action>> {
            // The checker counts states, not calls, and does not expand the states of the last
            // depth.
            let builder = scope.clone().checker().target_max_depth(scope.depth + 2);
            let checker = builder.spawn_bfs().join();
            println!(
                "{} without {:?}: {} states, {} calls",
                scope.name,
                scope.without,
                checker.unique_state_count(),
                scope.depth
            );
            checker.discoveries().into_values().map(|path| path.into_actions()).next()
        }

        /// Expects no violation in `depth` calls of the world, and `STEADYFS_MODEL_DEEPER` more.
        fn holds(scope: Scope) {
            let deeper = env::var("STEADYFS_MODEL_DEEPER")
                .map_or(0, |text| text.parse().expect("STEADYFS_MODEL_DEEPER is a number"));
            let scope = Scope { depth: scope.depth + deeper, ..scope };
            let found = check(&scope);
            assert_eq!(found, None, "in the world {:?}", scope.name);
        }

        /// Expects a violation after `calls` calls.
        fn misses(scope: Scope, rule: Rule, violation: Violation, calls: usize) {
            let found = check(&Scope { without: Some(rule), ..scope })
                .unwrap_or_else(|| panic!("nothing misses {rule:?}"));
            let last = found.last().and_then(|action| action.state.broken);
            assert_eq!((found.len(), last), (calls, Some(violation)), "{rule:?}: {found:?}");
        }

        $(#[test] fn $name() { holds(Scope::$scope); })*
    };
}
