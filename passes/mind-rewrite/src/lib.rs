//! Rewrite patterns and the greedy driver.
