package bots

import "fmt"

// CheckSeen reports whom of those in view the bot takes for somebody else. Whoever came into view
// before its own bot knew that it has an entity is not watched.
func (b *Bot) CheckSeen() error {
	if b.Client == nil {
		return nil
	}
	for r := range b.Client.Entities() {
		if s, t := b.seenOf(r), b.group.swarm.trails.find(r.ID); s != nil && t != nil && s.trail != t {
			return fmt.Errorf("bot %d takes entity %v for another", b.Number, r.ID)
		}
	}
	return nil
}

// Watched is how many the bot keeps something of.
func (b *Bot) Watched() int { return len(b.seen) }
