// Package script binds the Go types that a game writes for the parts of its entities, for all kinds
// of scripts in the same way: which Go method answers which method of the definition, which methods
// are hooks of the library, and which are called by a name that the script gave along. What fits
// nothing is refused at start-up, all faults at once, each with its remedy.
//
//	game            space.Register[T] ...   a Type in the Table of a Kind, faults in the Registry
//	a new entity    Type.New                the script, with its part and its properties bound
//	a method call   Type.Call               by index, from outside, arguments checked
//	a change        Type.Hear               its setter
//	a timer         Timers.Run, CallBack    by name
package script
