package status

// Shares is how many shares of the budget App.Told distinguishes.
const Shares = 4

// Told is what a CellApp makes for its clients, since it started, in bytes of messages by kind.
type Told struct {
	Places     uint64 `json:"places"`     // where others are
	Properties uint64 `json:"properties"` // changes of properties of others
	Calls      uint64 `json:"calls"`      // broadcast calls of others
	Enters     uint64 `json:"enters"`     // others that were met, with their properties
	Own        uint64 `json:"own"`        // changes of properties of the players' own entities
	Direct     uint64 `json:"direct"`     // all else that goes to one client: calls, what it logs in to

	// PlacesSent is the number of places in packets that were sent.
	PlacesSent uint64 `json:"places_sent"`
	// PlacesSkipped is in how many updates of a client another's place was due and found no room. They are
	// counted when its turn comes. A crowd in which all is told has 0.
	PlacesSkipped uint64 `json:"places_skipped"`
	// Updates is how many times a client was told something or might have been, at most once a tick,
	// and Crowded how many of those had no room for all that was due: the rest waits for its turn.
	Updates uint64 `json:"updates"`
	Crowded uint64 `json:"crowded"`
	// Waited is the longest time, in milliseconds, that an entity of which there was something to tell
	// has waited for its turn, in the last second.
	Waited uint64 `json:"waited_ms"`
	// Clients is how many clients have the whole of their budget, at least half of it, at least a
	// quarter, and less, as far as their paths let them; see witness.Witness.SetAllowance.
	Clients [Shares]uint64 `json:"clients_by_share"`
}

// Numbers lists all figures, in order.
func (t *Told) Numbers() []*uint64 {
	out := []*uint64{&t.Places, &t.Properties, &t.Calls, &t.Enters, &t.Own, &t.Direct, &t.PlacesSent, &t.PlacesSkipped, &t.Updates, &t.Crowded, &t.Waited}
	for i := range t.Clients {
		out = append(out, &t.Clients[i])
	}
	return out
}

// Add adds the counts of d; of the waits it takes the longer.
func (t *Told) Add(d *Told) {
	longest := max(t.Waited, d.Waited)
	from := d.Numbers()
	for i, n := range t.Numbers() {
		*n += *from[i]
	}
	t.Waited = longest
}
