package aoi

import "math"

// pace is how the nodes have moved since the last Update. Most walk: each goes no farther than
// drift. A trigger finds those that crossed an edge of its core within the walks of both of that
// edge. A few leap, as do those that come and go: they find the triggers instead.
type pace struct {
	drift float64
	few   bool // few walk, and find the triggers as well: those at rest need not look
	all   bool // all triggers have to look, as something big has moved
	last  float64
}

// leapers is how many may leap when few move at all; of many, an eighth may.
const leapers = 8

// measurePace tells walks from leaps.
func (ix *Index) measurePace() {
	p := &ix.pace
	*p = pace{last: p.last}
	var counts [256]int // by the exponent of the distance
	walks := 0
	for _, slot := range ix.moved {
		nd := &ix.nodes[slot]
		p.all = p.all || nd.appeal > 0
		if nd.live && nd.known {
			counts[exponent(distance(nd.at, nd.was))]++
			walks++
		}
	}
	longest, leaps := len(counts)-1, walks/leapers+leapers
	for ; longest > 0 && leaps >= counts[longest]; longest-- {
		leaps -= counts[longest]
		walks -= counts[longest]
	}
	p.few = leapers*walks < len(ix.order)
	for _, slot := range ix.moved {
		nd := &ix.nodes[slot]
		if nd.leaps = !nd.live || !nd.known; nd.leaps {
			continue
		}
		d := distance(nd.at, nd.was)
		if nd.leaps = exponent(d) > longest; !nd.leaps {
			p.drift = max(p.drift, d)
		}
	}
	if p.drift > 0 {
		p.last = p.drift
	}
}

func exponent(d float64) int { return int(math.Float32bits(float32(d)) >> 23 & 0xff) }
