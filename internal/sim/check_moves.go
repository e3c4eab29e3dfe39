package sim

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// movesInOrder checks that a player's real never goes back on the way that its client walked: not
// even by a move that was long under way, wherever the real has gone since.
type movesInOrder struct {
	c    *Cluster
	last map[entity.ID]footprint
}

// footprint is how far a real has come on its client's way.
type footprint struct {
	logins      int
	incarnation uint32
	at          int // index in player.path
}

func (k *movesInOrder) safe() error {
	for v := range k.c.reals() {
		pl := k.c.owner(v.ID())
		if pl == nil || pl.rogue || pl.driven {
			continue
		}
		was, now := k.last[v.ID()], footprint{pl.logins, v.Order().Incarnation, 0}
		switch {
		case now.logins == was.logins && now.incarnation < was.incarnation:
			continue // the real has been given up, and does not know yet
		case now.logins == was.logins && now.incarnation == was.incarnation:
			now.at = was.at
		}
		on := slices.Index(pl.path[min(now.at, len(pl.path)):], v.Position())
		switch {
		case on >= 0:
			now.at += on
		case slices.Contains(pl.path[:now.at], v.Position()) && !slices.Contains(pl.forced, v.Position()):
			return fmt.Errorf("promise 3: %s on %s (%v) is back at %v, which its client %s has left", v.ID(), v.p.Name, v.Order(), v.Position(), pl.name)
		}
		k.last[v.ID()] = now
	}
	return nil
}

func (k *movesInOrder) converged() error { return nil }

// stepped notes where a player went.
func (pl *player) stepped(to property.Vector3) { pl.path = append(pl.path, to) }

// wasPut notes where the server put a player. It may put it there again, before the client knows: two
// teleports led to one place, eleven seconds apart (seed 194013 at 737fe36a).
func (pl *player) wasPut(at property.Vector3) {
	pl.stepped(at)
	pl.forced = append(pl.forced, at)
}
