// Package script binds the Go types that a game writes for the parts of its entities: which Go method
// answers which method of the definition, and which methods are callbacks of the library. What
// fits nothing is refused at start-up, all faults at once, each with its remedy.
package script
