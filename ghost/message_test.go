package ghost_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// message is a ghost message in both directions.
type message interface {
	Append(b []byte) []byte
	Parse(body []byte) error
}

func messages() []message {
	head := ghost.Head{ID: 9<<32 | 1, Order: entity.Order{Incarnation: 2, Hop: 3}, Sequence: 1 << 30}
	pos, dir := property.Vector3{X: 1, Y: -2, Z: 3}, property.Vector3{X: 0.5, Y: 0.25, Z: -0.125}
	return []message{
		&ghost.State{
			Head: head, Type: 4, Space: 5, Base: mercury.Address{At: netip.MustParseAddrPort("10.0.0.1:99"), Salt: 6},
			MoveStamp: 7, Position: pos, Direction: dir, Control: presence.Control{By: 8, Number: 9}, Props: []byte("props"), History: []byte("history"), Answers: 4,
		},
		&ghost.Update{Head: head, MoveStamp: 7, Position: pos, Direction: dir, Control: presence.Control{By: 8, Number: 9}, Changes: []ghost.Change{
			{Number: 8, Index: 9, Payload: []byte("value")},
			{Number: 1 << 31, Event: true, Index: 10, Payload: []byte("arguments")},
		}},
		&ghost.Delete{Head: head},
		&ghost.Audit{Head: head, Sum: 1<<64 - 1},
		&ghost.Query{Head: head, Asker: mercury.Address{At: netip.MustParseAddrPort("10.0.0.9:900"), Salt: 9}, Asked: 3, Hops: 2},
		&ghost.Watched{Head: head, On: true},
		&ghost.Roll{Space: 5, Calls: []ghost.Call{{Head: head, After: 1}, {Head: head, After: 1<<32 - 1}}},
	}
}

func empty(m message) message { return reflect.New(reflect.TypeOf(m).Elem()).Interface().(message) }

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
			if err := empty(m).Parse(body[:n]); !errors.Is(err, ghost.ErrMalformed) {
				t.Errorf("%T: %d of %d bytes: %v", m, n, len(body), err)
			}
		}
		if err := empty(m).Parse(append(body, 0)); !errors.Is(err, ghost.ErrMalformed) {
			t.Errorf("%T with a byte left over: %v", m, err)
		}
	}
}

// A count or a length that the bytes cannot hold is refused before anything is allocated for it.
func TestMessageLimits(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0x0f}
	update := (&ghost.Update{Head: ghost.Head{ID: 1}}).Append(nil)
	update = append(update[:len(update)-1], huge...) // the number of changes
	if err := new(ghost.Update).Parse(update); !errors.Is(err, codec.ErrLength) {
		t.Errorf("changes: %v", err)
	}
	roll := &ghost.Roll{Space: 1, Calls: make([]ghost.Call, ghost.MaxRoll+1)}
	if err := new(ghost.Roll).Parse(roll.Append(nil)); !errors.Is(err, codec.ErrLength) {
		t.Errorf("a roll: %v", err)
	}
	tooLong := &ghost.State{Head: ghost.Head{ID: 1}, Props: make([]byte, ghost.MaxProps+1)}
	if err := new(ghost.State).Parse(tooLong.Append(nil)); !errors.Is(err, codec.ErrLength) {
		t.Errorf("props: %v", err)
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

func BenchmarkUpdate(b *testing.B) {
	body := messages()[1].Append(nil)
	var m ghost.Update
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Parse(body); err != nil {
			b.Fatal(err)
		}
	}
}

// An Update says where the real is, and which of its numbered changes a ghost has not heard of.
func ExampleUpdate() {
	sent := ghost.Update{
		Head:     ghost.Head{ID: 9<<32 | 1, Order: entity.Order{Incarnation: 1, Hop: 2}, Sequence: 7},
		Position: property.Vector3{X: 10, Z: 20},
		Changes:  []ghost.Change{{Number: 41, Index: 3, Payload: []byte{99}}},
	}
	body := sent.Append(nil)

	var got ghost.Update
	if err := got.Parse(body); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(got.ID, got.Order, got.Sequence, got.Position, len(got.Changes))
	// Output: 9.1 1/2 7 {10 0 20} 1
}
