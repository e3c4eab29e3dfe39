package sim

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// Gossips call two more kinds of ends: waifs and the clients of players.
//
// A waif is a gossip without a base. A gossip's cell part makes it, and it ends after a while or with its
// CellApp; it is never restored. What it says is numbered like all else. Whoever calls it may lose it: it is
// followed for as long as the CellApps that it has left live and remember it. So what is said to a waif comes
// in order, each number once, and none is left out as long as no CellApp dies and no channel is cut.
//
// A client hears whispers by every kind of mailbox that leads there, from bases and cell parts. For
// the time of its session, whatever dies, each number comes once and in order, and at rest it has
// all. Only what its base hands on may come again after that was restored, and what comes by way of
// its cell part, after that was.

const waifDef = `<root><Properties>` + gossipCellDef + `</Properties><CellMethods>` + gossipHearDef + `</CellMethods></root>`

const (
	whisperDef = `
		<whisper> <Arg> STRING </Arg> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </whisper>`
	// manyWaifs is how many of the last waifs others know.
	manyWaifs = 6
	// waifBeats is how long a waif lives, in beats, on average.
	waifBeats = 60
)

// whisperKinds lead to a client.
func whisperKinds() [3]entity.MailboxKind {
	return [...]entity.MailboxKind{entity.ClientMailbox, entity.ClientViaBase, entity.ClientViaCell}
}

// waifKinds lead to a waif, and to its base, which it has not.
func waifKinds() [4]entity.MailboxKind {
	return [...]entity.MailboxKind{entity.CellMailbox, entity.CellMailbox, entity.CellMailbox, entity.BaseViaCell}
}

// typeOf is the type of whom a gossip calls.
func (w *world) typeOf(id entity.ID) string {
	switch {
	case w.waif[id]:
		return "Waif"
	case w.listener[id]:
		return "Walker"
	}
	return "Gossip"
}

// acquaintance is whom a gossip calls next, and by which kind of mailbox.
func (w *world) acquaintance(draw func(n int) int) (to entity.ID, kind entity.MailboxKind) {
	switch what := draw(8); {
	case what == 0 && len(w.waifs) > 0:
		kinds := waifKinds()
		return w.waifs[draw(len(w.waifs))], kinds[draw(len(kinds))]
	case what == 1:
		if ids := w.audience(); len(ids) > 0 {
			to, kinds := ids[draw(len(ids))], whisperKinds()
			w.listener[to] = true
			return to, kinds[draw(len(kinds))]
		}
	}
	kinds, known := gossipKinds(), w.gossips[max(0, len(w.gossips)-12):]
	return known[draw(len(known))], kinds[draw(len(kinds))]
}

// audience are the entities of honest players whose clients are in the world.
func (c *Cluster) audience() (ids []entity.ID) {
	for _, pl := range c.players {
		if pl.playing() && !pl.rude {
			ids = append(ids, pl.id())
		}
	}
	return ids
}

// bear makes a waif near the cell part of a gossip.
func (s *gossipCell) bear() {
	if id, err := s.Spawn("Waif", s.Position(), property.Vector3{}, nil); err == nil {
		s.w.waif[id] = true
		s.w.waifs = append(s.w.waifs[max(0, len(s.w.waifs)-manyWaifs+1):], id)
	}
}

// live is a beat of a waif: it calls somebody, or ends.
func (s *gossipCell) live() {
	switch {
	case s.w.calm || s.w.hush:
	case s.Chance().IntN(waifBeats) == 0 && s.Open.Len() == 0:
		s.Destroy()
	case s.Chance().IntN(2) == 0:
		if to, kind := s.w.acquaintance(s.Chance().IntN); to != s.ID() {
			speak(s.tongue(), to, kind, s.Chance().IntN(2) == 0)
		}
	}
}

// lossy reports whether somebody without a base may have been lost sight of: an app has died, or could not be
// reached.
func (c *Cluster) lossy() bool { return c.parted || c.crashedSome() }

// mayReach reports whether a waif may hear a number after the last one of a pair.
func (w *world) mayReach(last heardCall, life, n uint32) bool {
	return mayNote(last.life, last.n, life, n) || (life > last.life || life == last.life && n > last.n) && w.lossy()
}

// whispers are what a client has heard of each pair in one session.
type whispers map[string]heardCall

// hear takes a whisper, and says what is wrong with it. again says that the client's base was restored.
func (k whispers) hear(pair string, life, n uint32, again bool) error {
	last := k[pair]
	if repeats(pair, last, life, n, again) {
		return nil
	}
	k[pair] = heardCall{life, n}
	if !mayNote(last.life, last.n, life, n) {
		return fmt.Errorf("whisper %d of life %d after %d of %d of %s", n, life, last.n, last.life, pair)
	}
	return nil
}
