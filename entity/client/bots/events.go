package bots

import "github.com/cellscape/cellscape/entity/client"

// events are those of the swarm, each before the game's own.
func (b *Bot) events() client.Events {
	var own client.Events
	if make := b.group.swarm.cfg.Events; make != nil {
		own = make(b)
	}
	all := own
	all.Closed = func(err error) {
		b.closed(err)
		if own.Closed != nil {
			own.Closed(err)
		}
	}
	all.BasePlayer = func(r *client.Replica) {
		b.trail = b.group.swarm.trails.of(r.ID)
		if own.BasePlayer != nil {
			own.BasePlayer(r)
		}
	}
	all.Entered = both(b.enters, own.Entered)
	all.Left = both(b.leaves, own.Left)
	all.Moved = both(b.moves, own.Moved)
	all.CellGone = both(func(*client.Replica) { b.forgetAll() }, own.CellGone)
	all.Reset = func() {
		b.forgetAll()
		if own.Reset != nil {
			own.Reset()
		}
	}
	return all
}

func both(first, second func(*client.Replica)) func(*client.Replica) {
	if second == nil {
		return first
	}
	return func(r *client.Replica) { first(r); second(r) }
}
