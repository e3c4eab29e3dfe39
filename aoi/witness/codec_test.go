package witness

import (
	"bytes"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
)

// states returns encoded witnesses, caught in the middle of their work.
func states(t testing.TB) [][]byte {
	out := [][]byte{New(Config{}).Append(nil)}
	for seed := range uint64(4) {
		wd := newWorld(t, Config{BytesPerTick: 222}, seed, 12)
		for range 30 {
			wd.act()
			wd.interest()
			wd.update(false)
		}
		wd.w.Leave(wd.w.entries[0].a.id)
		wd.w.Enter(wd.subject(newEntity(wd.def, 500, 1, 0, 0)))
		out = append(out, wd.w.Append(nil))
	}
	return out
}

func TestReadRefusesDamage(t *testing.T) {
	for _, state := range states(t) {
		for n := range state {
			w := New(Config{})
			r := codec.NewReader(state[:n])
			if w.Read(&r); r.Close() == nil {
				t.Fatalf("%d of %d bytes were enough", n, len(state))
			}
			if !equalState(w, New(Config{})) {
				t.Fatal("a failed Read changed the witness")
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, state := range states(f) {
		f.Add(state)
	}
	d := testDefinition(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		w := New(Config{})
		r := codec.NewReader(b)
		if w.Read(&r); r.Err() != nil {
			return
		}
		state := w.Append(nil)
		again := New(Config{})
		r = codec.NewReader(state)
		if again.Read(&r); r.Close() != nil || !bytes.Equal(again.Append(nil), state) {
			t.Fatalf("what was read is not what Append writes: %v", r.Err())
		}
		// Whatever was read, the witness goes on working and comes to rest.
		watcher := newEntity(d, 1<<40, 1, 0, 0)
		for id := entity.ID(1); id < 20; id += 3 {
			w.Enter(&Subject{Entity: newEntity(d, id, 1, 30, 0)})
		}
		for range RelinkGrace + 2 {
			w.Update(watcher, 1000, nil, true)
		}
		if n := w.Pending(watcher); n != 0 {
			t.Fatalf("%d pending", n)
		}
	})
}
