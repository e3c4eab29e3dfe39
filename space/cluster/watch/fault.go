package watch

import "fmt"

// Fault says why a question was not answered with values. It is an error, for errors.Is.
type Fault uint8

const (
	// NoProcess: the world has no such process now.
	NoProcess Fault = 1 + iota
	// NoPath: the process has no value of that name.
	NoPath
	// ReadOnly: the value cannot be set.
	ReadOnly
	// Refused: the value makes no sense there.
	Refused
	// NoAnswer: the process was asked and has not answered in time, or cannot be reached. If it was
	// asked to set something, it may have done so.
	NoAnswer
	// Busy: too many questions of this observer wait for answers.
	Busy
	// LastFault is the last of them.
	LastFault = Busy
)

// Error implements error.
func (f Fault) Error() string {
	switch f {
	case NoProcess:
		return "watch: there is no such process"
	case NoPath:
		return "watch: there is no such value"
	case ReadOnly:
		return "watch: the value can only be read"
	case Refused:
		return "watch: the value is refused"
	case NoAnswer:
		return "watch: the process does not answer"
	case Busy:
		return "watch: too many questions wait"
	}
	return fmt.Sprintf("watch: fault %d", uint8(f))
}

// With is the fault with its details; f itself if there are none.
func (f Fault) With(details string) error {
	if details == "" {
		return f
	}
	return fmt.Errorf("%w: %s", f, details)
}
