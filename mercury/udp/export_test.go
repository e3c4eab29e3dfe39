package udp

import "time"

// Turn runs one round of a Loop on the caller's goroutine, for tests that own both ends.
func (l *Loop) Turn(wait time.Duration) error {
	l.runInbox()
	if err := l.turn(); err != nil {
		return err
	}
	return l.receive(min(l.deadline(), l.Now()+wait))
}

// Rest is the end of a turn that began at woken.
func (l *Loop) Rest(woken time.Duration) { l.rest(woken) }
