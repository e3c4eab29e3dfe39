package tail_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/internal/tail"
)

// model is a tail as plain slices.
type model struct {
	all  []string
	sent int
}

func text(stream uint8, number uint64, msg []byte) string {
	return fmt.Sprintf("%d.%d %s", stream, number, msg)
}

// A tail does what plain slices do, in whatever order its methods are called.
func TestModel(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var x tail.Tail
		var m model
		for n := uint64(1); n < 2000; n++ {
			switch r.IntN(12) {
			case 0, 1, 2, 3:
				msg := make([]byte, r.IntN(300))
				x.Add(uint8(n%2), n, msg)
				m.all = append(m.all, text(uint8(n%2), n, msg))
			case 4, 5, 6:
				x.Drop()
				if len(m.all) > 0 {
					m.all, m.sent = m.all[1:], max(0, m.sent-1)
				}
			case 7, 8, 9:
				if _, _, ok := x.Next(); ok {
					x.Sent()
					m.sent++
				}
			case 10:
				x.Rewind()
				m.sent = 0
			default:
				keep := func(stream uint8, _ uint64) bool { return r.IntN(8) > 0 || stream == 1 }
				picked := map[string]bool{}
				x.Keep(func(stream uint8, number uint64) bool {
					ok := keep(stream, number)
					picked[fmt.Sprintf("%d.%d ", stream, number)] = ok
					return ok
				})
				m.all = slices.DeleteFunc(m.all, func(s string) bool {
					var stream, number int
					_, _ = fmt.Sscanf(s, "%d.%d", &stream, &number)
					return !picked[fmt.Sprintf("%d.%d ", stream, number)]
				})
				m.sent = 0
			}
			check(t, &x, &m)
		}
	}
}

func check(t *testing.T, x *tail.Tail, m *model) {
	t.Helper()
	var all []string
	size := 0
	x.Each(func(stream uint8, number uint64, msg []byte) {
		all = append(all, text(stream, number, msg))
		size += len(msg) + tail.Overhead
	})
	if !slices.Equal(all, m.all) || x.Len() != len(m.all) || x.Size() != size {
		t.Fatalf("%d messages of %d bytes, want %d of %d", x.Len(), x.Size(), len(m.all), size)
	}
	next, msg, ok := x.Next()
	if ok && !strings.Contains(m.all[m.sent], fmt.Sprintf(".%d ", next)) {
		t.Fatalf("next is number %d, want %.20s", next, m.all[m.sent])
	}
	if ok != (m.sent < len(m.all)) || (x.Unsent() > 0) != ok {
		t.Fatalf("next %t, unsent %d; %d of %d are sent", ok, x.Unsent(), m.sent, len(m.all))
	}
	if ok && len(msg)+tail.Overhead > x.Unsent() {
		t.Fatal("the next message is longer than all that is unsent")
	}
	stream, number, ok := x.First()
	if ok != (len(m.all) > 0) || ok && m.all[0][:len(fmt.Sprintf("%d.%d ", stream, number))] != fmt.Sprintf("%d.%d ", stream, number) {
		t.Fatalf("first is %d.%d, want %.20s", stream, number, m.all[0])
	}
}

func TestSteadyTailDoesNotAllocate(t *testing.T) {
	var x tail.Tail
	msg := make([]byte, 200)
	turn := func() {
		for range 10 {
			x.Add(0, 1, msg)
			x.Sent()
		}
		for x.Len() > 20 {
			x.Drop()
		}
	}
	for range 100 {
		turn()
	}
	if n := testing.AllocsPerRun(1000, turn); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
