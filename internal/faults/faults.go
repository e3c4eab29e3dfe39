// Package faults collects what is wrong with a configuration, so that all of it is reported at once.
package faults

import (
	"errors"
	"fmt"
)

// List has the faults that were found.
type List struct {
	prefix string
	errs   []error
}

// In is a list of faults that begin with a prefix, such as "mercury: Config.".
func In(prefix string) *List { return &List{prefix: prefix} }

// If adds a fault if something is bad: what is wrong, and what to do about it.
func (l *List) If(bad bool, format string, args ...any) {
	if bad {
		l.errs = append(l.errs, fmt.Errorf(l.prefix+format, args...))
	}
}

// Add adds errors as they are, without the prefix; nil is none.
func (l *List) Add(errs ...error) { l.errs = append(l.errs, errs...) }

// Err is all of them, nil if nothing is wrong.
func (l *List) Err() error { return errors.Join(l.errs...) }
