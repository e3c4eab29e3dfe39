// Package invariant tells whether the promises that a state machine makes to itself are checked as it
// runs, and stops it when one is broken.
//
// [On] is a constant. A build with the tag invariants, and one with the race detector, has it true;
// any other build has it false, and the compiler leaves out what stands behind it:
//
//	if invariant.On {
//		c.assert() // in a file invariants.go of the package
//	}
//
// All tests and the simulator are run with the tag (see .ci/run and CONTRIBUTING.md). A broken
// invariant is a bug in the library and never the fault of a game or of a peer: bad input is refused
// by an error. So [Broken] panics, and what contains the panics of scripts lets this one through
// (see [Pass]).
package invariant

import "fmt"

// Fault is what Broken panics with.
type Fault string

// Error says which promise was broken.
func (f Fault) Error() string { return "invariant broken: " + string(f) }

// Broken panics with a Fault. It is called behind On alone.
func Broken(format string, args ...any) { panic(Fault(fmt.Sprintf(format, args...))) }

// Pass panics again with a recovered Fault: what contains the panics of scripts must not hide one
// that is the library's own. Anything else is left to the caller.
func Pass(recovered any) {
	if f, ok := recovered.(Fault); On && ok {
		panic(f)
	}
}

// Caught runs f and returns the Fault that it ends in, "" without one: for tests that plant bugs.
func Caught(f func()) (caught Fault) {
	defer func() {
		p := recover()
		if fault, ok := p.(Fault); ok {
			caught = fault
		} else if p != nil {
			panic(p)
		}
	}()
	f()
	return ""
}
