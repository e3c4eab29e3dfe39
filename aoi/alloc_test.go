package aoi

import "testing"

// What a tick does in the steady state must not produce garbage: it runs for every entity, ten
// times a second.
func TestNoAllocations(t *testing.T) {
	w := newWorld(400, 200, 40, 45)
	step := func() {
		w.step(0.6)
		w.list.Update(nop)
	}
	for range 300 { // until every buffer has reached its largest size
		step()
	}
	seen := 0
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"a still tick", func() {
			for i, n := range w.nodes {
				w.list.Move(n, w.at[i][0], w.at[i][1])
			}
			w.list.Update(nop)
		}},
		{"a tick of walking", step},
		{"jump and back", func() {
			for range 2 {
				w.list.Move(w.nodes[0], 190, 190)
				w.list.Move(w.nodes[0], w.at[0][0], w.at[0][1])
				w.list.Update(nop)
			}
		}},
		{"remove and insert", func() {
			w.list.Remove(w.nodes[1])
			w.nodes[1] = w.list.Insert(1, w.at[1][0], w.at[1][1])
			w.list.AddTrigger(w.nodes[1], 40, 45)
			w.list.Update(nop)
		}},
		{"InRange", func() {
			for range w.list.InRange(100, 100, 50) {
				seen++
			}
		}},
		{"InCircle", func() {
			for range w.list.InCircle(100, 100, 50) {
				seen++
			}
		}},
		{"Inside", func() {
			for range w.list.Inside(w.triggers[5]) {
				seen++
			}
		}},
	} {
		c.f()
		if n := testing.AllocsPerRun(50, c.f); n != 0 {
			t.Errorf("%s allocates %v times", c.name, n)
		}
	}
	if seen == 0 {
		t.Error("the queries found nothing")
	}
}

func TestQueueGivesMemoryBack(t *testing.T) {
	w := newWorld(400, 10, 40, 45) // 400 × 399 enters
	events := 0
	w.list.Update(func(Trigger, Node, uint64, bool) { events++ })
	if events != 400*399 || cap(w.list.queue.events) > keptEvents {
		t.Errorf("%d events delivered, memory for %d is kept", events, cap(w.list.queue.events))
	}
}
