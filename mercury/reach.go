package mercury

import (
	"net/netip"

	"github.com/cellscape/cellscape/internal/enum"
)

// Reach is what one look at the place of a process has found. It says what the kernel of its machine
// answers, not what the process does: a process that only pauses is there.
type Reach uint8

// Lookout looks at the places of other processes. The runner provides it (package host).
type Lookout interface {
	// Probe looks once. What it finds comes as a call of the app's Reached with the same token, on the
	// app's goroutine and never from within Probe.
	Probe(token uint64, at netip.AddrPort)
}

// What a look may find.
const (
	// ReachUnknown: nobody has looked, or could.
	ReachUnknown Reach = iota
	// ReachOpen: something has the port.
	ReachOpen
	// ReachClosed: the machine answers, and nothing has the port.
	ReachClosed
	// ReachSilent: nothing answers. The machine is down, or no way leads there.
	ReachSilent
)

// String names what was found.
func (r Reach) String() string {
	return enum.Name(r, "reach", []string{
		ReachUnknown: "unknown",
		ReachOpen:    "open",
		ReachClosed:  "closed",
		ReachSilent:  "silent",
	})
}
