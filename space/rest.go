package space

// AtRest reports whether a tick would find nothing to do, until something comes: there is no entity
// here, and nothing of one that has left waits for an answer. Then ticks may be left out. What only
// lapses meanwhile is nobody's concern, if a tick runs before whatever comes next.
func (p *Population) AtRest() bool {
	if p.frozen || p.held || len(p.byID)+len(p.annexes)+len(p.leaving)+len(p.orphans)+len(p.teleports) > 0 || p.Pending() > 0 {
		return false
	}
	for _, c := range p.cells {
		if !c.atRest() {
			return false
		}
	}
	return true
}

// atRest is AtRest of a cell without entities. The game's hooks must have been told of its area and of
// the space's data.
func (c *Cell) atRest() bool {
	return len(c.departing)+len(c.loopback)+len(c.refusals)+len(c.rolls.broken)+len(c.gates.ends) == 0 &&
		!c.first && c.lostHeard == c.data.last && (c.ended || c.scripts.area == nil || c.areaOf == c.tree)
}
