package replay

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/space/recording"
)

// This file has how entities end of which no log says so.

// drift notes that no log tells of an entity any more, until one does.
func (p *Player) drift(t *track) {
	t.adrift, t.since = true, p.now
	p.adrift = append(p.adrift, t)
}

// leave ends what is shown of an entity.
func (p *Player) leave(t *track) {
	if found, i := p.find(t.r.ID); found == t {
		p.tracks = slices.Delete(p.tracks, i, i+1)
		t.adrift, t.moving = false, false
		p.stage.Leave(t.r.ID)
	}
}

// beginGap notes that a log has nothing for a while from now on.
func (p *Player) beginGap(s *source) {
	if s.next >= s.log.Len() || !s.log.Head(s.next).Gap {
		return
	}
	p.stats.Gaps++
	for _, t := range p.tracks {
		if t.source == s && !t.adrift {
			p.drift(t)
		}
	}
}

// lose ends what is shown of an entity of which no log tells. Its passengers are where the last key
// frame had them, which is newer than where it was.
func (p *Player) lose(t *track) {
	p.stats.Lost++
	p.leave(t)
	for _, rider := range p.tracks {
		if rider.r.Vehicle() == t.r.ID {
			// What a log has is within the world.
			_ = p.stage.Move(rider.r, rider.world.Position(), rider.world.Direction(), client.Appears)
		}
	}
}

// buried reports whether an entity has ended, in a hop that is not older.
func (p *Player) buried(id entity.ID, order entity.Order) bool {
	return slices.ContainsFunc(p.graves, func(g grave) bool { return g.id == id && !g.order.Before(order) })
}

// expire ends who was lost, and lets those rest who have not moved for a while.
func (p *Player) expire() {
	for _, s := range p.sources {
		if !s.over && s.next == s.log.Len() && p.now >= s.log.Head(s.next-1).Game+recording.Grace {
			s.over = true
			p.loseAll(func(t *track) bool { return t.source == s })
		}
	}
	p.adrift = slices.DeleteFunc(p.adrift, func(t *track) bool {
		if t.adrift && p.now-t.since >= recording.Grace {
			p.lose(t)
		}
		return !t.adrift
	})
	p.graves = slices.DeleteFunc(p.graves, func(g grave) bool { return p.now-g.at >= recording.Grace })
	p.rest()
}

func (p *Player) loseAll(which func(*track) bool) {
	for _, t := range slices.Clone(p.tracks) {
		if which(t) {
			p.lose(t)
		}
	}
}

// rest tells filters who has come to rest.
func (p *Player) rest() {
	p.moving = slices.DeleteFunc(p.moving, func(t *track) bool {
		if t.moving && p.now-t.moved >= rested {
			t.moving = false
			_ = p.stage.Move(t.r, t.r.Position, t.r.Direction, client.Rests) // it stands there already
		}
		return !t.moving
	})
}
