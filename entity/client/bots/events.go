package bots

import "github.com/cellscape/cellscape/entity/client"

// events are those of the swarm, each before the game's own.
func (b *Bot) events() client.Events {
	var own client.Events
	if b.group.swarm.cfg.Events != nil {
		own = b.group.swarm.cfg.Events(b)
	}
	all, closed := own, own.Closed // if all of own were of the function, each bot would hold it twice
	all.Closed = func(err error) {
		b.closed(err)
		if closed != nil {
			closed(err)
		}
	}
	all.BasePlayer = both(b.begins, own.BasePlayer)
	all.CellPlayer = both(b.arrives, own.CellPlayer)
	all.Entered = both(b.enters, own.Entered)
	all.Moved = both(b.moves, own.Moved)
	return all
}

func both(first, second func(*client.Replica)) func(*client.Replica) {
	if second == nil {
		return first
	}
	return func(r *client.Replica) { first(r); second(r) }
}
