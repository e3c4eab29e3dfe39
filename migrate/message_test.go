package migrate_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/google/go-cmp/cmp"
)

// message is a handoff message in both directions.
type message interface {
	Append(b []byte) []byte
	Parse(body []byte) error
}

func messages() []message {
	const id = entity.ID(9<<32 | 1)
	order := entity.Order{Incarnation: 2, Hop: 300}
	base := mercury.Address{At: netip.MustParseAddrPort("[2001:db8::1]:99"), Salt: 6}
	parts := []byte("parts")
	return []message{
		&migrate.Onload{ID: id, Type: 1, Space: 2, Order: order, Base: base, Title: 9, Decided: migrate.Geometry{Term: 3, N: 4}, Serial: 1 << 40, Low: 1 << 39, Parts: parts},
		&migrate.Onload{ID: id, Type: 1, Space: 2, Order: order, Base: base, Title: 9, Decided: migrate.Geometry{Term: 3, N: 4}, Arrival: migrate.Arrival{From: 5, Near: 6, Position: property.Vector3{X: 1, Y: 2, Z: 3}, Direction: property.Vector3{X: 4, Y: 5, Z: 6}, Transition: true}, Parts: parts},
		&migrate.OnloadParty{List: []migrate.Onload{
			{ID: id, Type: 1, Space: 2, Order: order, Base: base, Title: 9, Decided: migrate.Geometry{Term: 3, N: 4}, Serial: 1 << 40, Low: 1 << 39, Parts: parts},
			{ID: id + 1, Type: 1, Space: 2, Order: order, Base: base, Title: 9, Decided: migrate.Geometry{Term: 3, N: 4}, Serial: 1 << 40, Low: 1 << 39, Parts: parts},
		}},
		&migrate.OnloadAck{ID: id, Order: order, Elsewhere: true},
		&migrate.OnloadRefused{ID: id, Order: order, Code: placement.Full, Reason: "full"},
		&migrate.Create{ID: id, Type: 1, Space: 2, Order: order, Base: base, Title: 9, Session: flow.Session{Number: 3, Room: 920}, Handled: 4, Heard: 5, Restored: true, Parts: parts,
			Pass: []flow.Culprit{{From: id, FromPart: entity.BasePart, Mark: flow.MarkOf(2, 7)}, {From: id + 1, FromPart: entity.CellPart, Mark: 9}}},
		&migrate.Current{ID: id, Order: order, Title: 9, Handled: 1 << 40},
		&migrate.Refuse{ID: id, Order: order},
		&migrate.Offer{ID: id, Order: order, Title: 9, Saves: 1, Handled: 2, Space: 3, Position: property.Vector3{X: 1, Y: 2, Z: 3}, Parts: parts},
		&migrate.Lost{ID: id, Order: order, Title: 9, Code: placement.Full, Reason: "the script panicked"},
		&migrate.Lost{ID: id, Order: order, Title: 9, Fault: true, Culprit: flow.Culprit{From: id, FromPart: entity.CellPart, Mark: flow.MarkOf(2, 7)}},
		&migrate.Probe{ID: id, Order: order, Base: base, Hops: 3},
	}
}

func empty(m message) message { return reflect.New(reflect.TypeOf(m).Elem()).Interface().(message) }

// carriesParts says that a message ends in parts, which take everything that is left.
func carriesParts(m message) bool {
	switch m.(type) {
	case *migrate.Onload, *migrate.Create, *migrate.Offer:
		return true
	}
	return false
}

var sameAddress = cmp.Comparer(func(a, b mercury.Address) bool { return a == b })

func TestMessageRoundTrip(t *testing.T) {
	for _, want := range messages() {
		t.Run(fmt.Sprintf("%T", want), func(t *testing.T) {
			body := want.Append(nil)
			got := empty(want)
			for range 2 { // the second time into a struct that was used
				if err := got.Parse(body); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got, sameAddress); d != "" {
					t.Fatalf("(-sent +received):\n%s", d)
				}
			}
		})
	}
}

func TestMessageTruncated(t *testing.T) {
	for _, m := range messages() {
		body := m.Append(nil)
		for n := range body {
			err := empty(m).Parse(body[:n])
			partsCut := carriesParts(m) && n >= len(body)-len("parts")
			if (err == nil) != partsCut || (err != nil && !errors.Is(err, migrate.ErrMalformed)) {
				t.Errorf("%T: %d of %d bytes: %v", m, n, len(body), err)
			}
		}
		if err := empty(m).Parse(append(body, 0)); (err == nil) != carriesParts(m) {
			t.Errorf("%T with a byte left over: %v", m, err)
		}
	}
}

func TestMessageLimits(t *testing.T) {
	parts := make([]byte, migrate.MaxParts+1)
	for _, m := range []message{
		&migrate.Onload{ID: 1, Parts: parts}, &migrate.Create{ID: 1, Parts: parts}, &migrate.Offer{ID: 1, Parts: parts},
		&migrate.Lost{ID: 1, Reason: string(parts[:migrate.MaxReason+1])},
	} {
		if err := empty(m).Parse(m.Append(nil)); !errors.Is(err, migrate.ErrMalformed) {
			t.Errorf("%T above its limit: %v", m, err)
		}
	}
}

// Whatever parses is encoded as the same bytes.
func FuzzMessage(f *testing.F) {
	kinds := messages()
	for i, m := range kinds {
		f.Add(uint8(i), m.Append(nil))
	}
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		m := empty(kinds[int(kind)%len(kinds)])
		if m.Parse(body) != nil {
			return
		}
		if again := m.Append(nil); !bytes.Equal(again, body) {
			t.Errorf("%T: parsed from %x, encoded as %x", m, body, again)
		}
	})
}

// An Onload carries a real as named parts, which only their owners can read.
func ExampleOnload() {
	props := func(b []byte) []byte { return append(b, "hp = 7"...) }
	sent := migrate.Onload{
		ID: 9<<32 | 1, Space: 1, Order: entity.Order{Incarnation: 1, Hop: 2},
		Parts: migrate.AppendPart(nil, migrate.PropsPart, props),
	}
	body := sent.Append(nil)

	var got migrate.Onload
	if err := got.Parse(body); err != nil {
		fmt.Println(err)
		return
	}
	err := migrate.EachPart(got.Parts, func(tag migrate.Tag, body []byte) error {
		fmt.Printf("%v %v %v: %s\n", got.ID, got.Order, tag, body)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 9.1 1/2 props: hp = 7
}
