package migrate

import (
	"math"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
)

// A state of MaxParts can be sent by default, whichever message takes it: what a channel refuses as
// too long would be said again for ever.
func TestLargestIsSent(t *testing.T) {
	parts := make([]byte, MaxParts)
	head := Onload{
		ID: math.MaxUint64, Type: math.MaxUint16, Space: math.MaxUint32,
		Order:   entity.Order{Incarnation: math.MaxUint32, Hop: math.MaxUint32},
		Arrival: Arrival{From: math.MaxUint32, Near: math.MaxUint64},
	}
	alone := head
	alone.Parts = parts
	party := OnloadParty{List: make([]Onload, MaxParty)}
	for i := range party.List {
		party.List[i] = head
		party.List[i].Parts = parts[:MaxParts/MaxParty]
	}
	const id = 4 // bytes in front of a body, at most
	for what, msg := range map[string]interface{ Append([]byte) []byte }{
		"Onload":      &alone,
		"OnloadParty": &party,
		"Create":      &Create{ID: math.MaxUint64, Handled: math.MaxUint64, Heard: math.MaxUint64, Parts: parts},
		"Offer":       &Offer{ID: math.MaxUint64, Saves: math.MaxUint64, Handled: math.MaxUint64, Parts: parts},
		"BaseCopy":    &BaseCopy{ID: math.MaxUint64, Number: math.MaxUint64, Cycle: math.MaxUint64, Parts: parts},
	} {
		if n := id + len(msg.Append(nil)); n > mercury.DefaultMaxMessage {
			t.Errorf("%s may have %d bytes, mercury carries %d", what, n, mercury.DefaultMaxMessage)
		}
	}
}
