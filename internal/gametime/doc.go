// Package gametime says how game time runs: the clock of a space, which may be slowed down, and
// when timers of scripts are due by it.
package gametime
