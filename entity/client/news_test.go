package client

import (
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// health is what a packet says of foe's health.
func (r *rig) healthNews(after uint64, number uint32, v int64) []byte {
	_ = r.others.Load(health, property.Int(v))
	return (&protocol.News{Body: appendValue(nil, health, r.others)}).Append(packet(after, number))
}

func (r *rig) healthChange(bundle uint64, v int64) []byte {
	_ = r.others.Load(health, property.Int(v))
	return (&protocol.Changes{ID: foe, Props: appendValue(nil, health, r.others)}).Append(r.cell(bundle))
}

// Whatever order packets and bundles come in, an older value never replaces a newer one.
func TestOrderOfNews(t *testing.T) {
	r := meeting(t)
	for _, x := range []struct {
		name  string
		do    func()
		has   int64
		stale uint64
	}{
		{"newer", func() { r.whisper(r.healthNews(5, 3, 2)) }, 2, 0},
		{"late", func() { r.whisper(r.healthNews(5, 2, 1)) }, 2, 1},
		{"doubled", func() { r.whisper(r.healthNews(5, 3, 1)) }, 2, 1},
		{"from before its Enter", func() { r.whisper(r.healthNews(4, 99, 1)) }, 2, 1},
		{"ahead of its bundle", func() { r.whisper(r.healthNews(7, 4, 4)) }, 4, 0},
		{"a change overtaken by a packet", func() { r.say(r.healthChange(6, 3)) }, 4, 1},
		{"and another", func() { r.say(r.healthChange(7, 3)) }, 4, 1},
		{"a change after it", func() { r.say(r.healthChange(8, 5)) }, 5, 0},
		{"from before the change", func() { r.whisper(r.healthNews(7, 6, 4)) }, 5, 1},
		{"goes on from there", func() { r.whisper(r.healthNews(8, 7, 8)) }, 8, 0},
		{"met anew", func() {
			_ = r.others.Load(health, property.Int(9))
			r.say(r.enter(foe, 0).Append(protocol.AppendLeave(r.cell(9), foe)))
		}, 9, 0},
		{"from before", func() { r.whisper(r.healthNews(8, 8, 1)) }, 9, 1},
	} {
		before := r.c.Stats().StaleNews
		x.do()
		if got := r.c.Entity(foe).Props.Get(health).Int(); got != x.has || r.c.Stats().StaleNews-before != x.stale {
			t.Errorf("%s: health %d, want %d; %d stale, want %d", x.name, got, x.has, r.c.Stats().StaleNews-before, x.stale)
		}
	}
	if r.c.Stats().News != 3 {
		t.Errorf("%d news", r.c.Stats().News)
	}
}

// A call in a packet is made once, and never after one that was sent later.
func TestOrderOfWhispers(t *testing.T) {
	r := meeting(t)
	r.events = nil
	chat := func(b []byte, s string) []byte {
		args, _ := r.schema.Type("Avatar").ClientMethods[0].AppendArgs(nil, []property.Value{property.StringValue(s)})
		return (&protocol.News{Call: true, Body: protocol.AppendWhisper(nil, 0, args)}).Append(b)
	}
	r.whisper(chat(packet(4, 90), "of before"))
	r.whisper(chat(chat(packet(5, 2), "a"), "b"))
	r.whisper(chat(chat(packet(5, 2), "a"), "b"))
	r.whisper(chat(packet(5, 1), "late"))
	r.whisper(chat(packet(6, 2), "ahead of its bundle")) // in which another may have come with the alias
	r.say(r.healthChange(6, 100))
	r.whisper(chat(packet(5, 3), "c"))
	r.wantEvents(`1.7.chat(["a"])`, `1.7.chat(["b"])`, `1.7.chat(["c"])`)

	r.whisper((&protocol.News{Alias: 9, Body: []byte{1}}).Append(packet(6, 4))) // of nobody
	if s := r.c.Stats(); s.News != 3 || s.StaleNews != 5 || s.UnknownEntities != 1 {
		t.Errorf("%+v", s)
	}
}

func TestMalformedNews(t *testing.T) {
	for name, n := range map[string]protocol.News{
		"a method that there is not": {Call: true, Body: protocol.AppendWhisper(nil, 1, nil)},
		"a call without arguments":   {Call: true, Body: protocol.AppendWhisper(nil, 0, nil)},
		"a property for others":      {Body: []byte{0xfe, 0x01, 0}},
		"a part":                     {Body: []byte{1, 0}},
		"a value cut short":          {Body: []byte{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			r := meeting(t)
			r.whisper(n.Append(packet(5, 1)))
			r.wantMalformed()
		})
	}
}
