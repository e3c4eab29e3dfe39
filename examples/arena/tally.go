package main

import (
	"fmt"
	"strings"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// A bot counts what it asks of the server, and its avatar counts what it was asked, in properties
// that the bot sees. They are part of the avatar's state. So a CellApp that dies takes them back
// with the rest, and the replayed calls count them up again; so does a BaseApp. What differs at the end was
// lost, or handled twice. No counter of a process could tell that, since it dies with the process.

// asked is what a bot has called.
type asked struct{ said, wore, collected, waved uint64 }

// answered is what its avatar has counted of it.
type answered struct {
	words, worn, collects uint64
	// The avatar's base gets a point for each word. At each collect the purse gets the points that it
	// lacks; paid is how many collects it has heard of.
	points, purse, paid uint64
	// waves are those of others that the avatar saw, unseen the own that nobody did.
	waves, unseen uint64
}

// answers reads what an avatar tells its own client.
func answers(own *client.Replica) answered {
	get := func(name string) uint64 { return own.Props.Get(own.Def.Property(name).Index).Uint() }
	return answered{
		words: get("words"), worn: get("worn"), collects: get("collects"),
		points: get("score"), purse: get("purse"), paid: get("paid"), waves: get("waves"), unseen: get("unseen"),
	}
}

// tally is what all bots asked, and what came of it.
type tally struct {
	// These sum the differences bot by bot, by kind, since a call that one bot lost does not make
	// up for one that another had twice.
	words, worn, collects, coins uint64
	waved, waves                 uint64
}

func (t *tally) add(a asked, b answered) {
	t.words += apart(a.said, b.words)
	t.worn += apart(a.wore, b.worn)
	t.collects += apart(a.collected, b.collects)
	t.coins += apart(b.words, b.points) + apart(b.collects, b.paid) + max(b.purse, b.points) - b.points
	t.waved += a.waved
	t.waves += b.waves + b.unseen
}

func apart(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// lost counts reliable messages that were sent and not handled, or handled twice. The count is
// exact when the world is at rest, whatever died before.
func lost(st *status.World, c *sums) (n uint64, details string) {
	var parts []string
	between := apart(c.tally.waved, c.tally.waves)
	bundles := apart(st.Counters.BundlesSent, c.bundles)
	if c.resumed > 0 {
		bundles = 0 // a dead BaseApp has not told its last count, and its heir relays some again
	}
	bundles += c.missed
	if c.partial {
		between, bundles = 0, c.missed // nobody has counted what others were told, and whom they waved to
	}
	for _, x := range []struct {
		what string
		n    uint64
	}{
		{"words of bots", c.tally.words},
		{"changes of clothes", c.tally.worn},
		{"collects", c.tally.collects},
		{"points for words, or coins for points", c.tally.coins},
		{"waves of bots to others", between},
		{"messages between bases and cells", st.Counters.FlowLost},
		{"bundles to clients", bundles},
	} {
		if n += x.n; x.n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d lost or handled twice", x.what, x.n))
		}
	}
	return n, strings.Join(parts, "; ")
}
