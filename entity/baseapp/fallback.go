package baseapp

import (
	"slices"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// A client is told where its session goes on if this app dies: at the doors of the apps that hold
// copies of its proxy, by the ruling list, the heir first. Each BaseApp tells the others its doors
// with its answer to their rules.

// neighbour is another BaseApp with the doors by which clients reach it.
type neighbour struct {
	app   mercury.Address
	doors []protocol.Door
}

// takeDoors learns the doors of another BaseApp.
func (a *BaseApp) takeDoors(from sender, m *wire.BaseDoors) {
	i := slices.IndexFunc(a.neighbours, func(n neighbour) bool { return n.app == from.app })
	if i < 0 {
		i = len(a.neighbours)
		a.neighbours = append(a.neighbours, neighbour{app: from.app})
	}
	if slices.Equal(a.neighbours[i].doors, m.Doors) {
		return
	}
	a.neighbours[i].doors = m.Doors
	a.tellFallbacks()
}

// fallback is where the client of a base goes if this app is gone; nil for nowhere. The doors of
// the heir come first, and then those of the apps that are next if that is gone at the same time.
func (a *BaseApp) fallback(b *base) (doors []protocol.Door) {
	var buf [migrate.MaxReplicas]mercury.Address
	for _, h := range a.copying.ruling.rules.Holders(buf[:0], a.net.Self(), b.id) {
		if next := a.doorsOf(h); !a.links.Dead(h) && len(doors)+len(next) <= protocol.MaxDoors {
			doors = append(doors, next...)
		}
	}
	return doors
}

// fallbacks are that, and where it goes if that app is gone, too.
func (a *BaseApp) fallbacks(b *base) (first, second []protocol.Door) {
	var buf [migrate.MaxReplicas]mercury.Address
	for _, h := range a.copying.ruling.rules.Holders(buf[:0], a.net.Self(), b.id) {
		doors := a.doorsOf(h)
		switch {
		case doors == nil || a.links.Dead(h):
		case first == nil:
			first = doors
		default:
			return first, doors
		}
	}
	return first, nil
}

// tellFallbacks tells clients what has changed of that.
func (a *BaseApp) tellFallbacks() {
	for _, b := range a.list {
		b.tellFallback()
	}
}

func (b *base) tellFallback() {
	if b.removed || b.seat == nil {
		return
	}
	if doors := b.app.fallback(b); !slices.Equal(doors, b.seat.fallback) {
		b.seat.fallTo(doors)
	}
}
