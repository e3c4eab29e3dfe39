package secure

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// keptTicket is a ticket as its owner has it.
type keptTicket struct {
	at      netip.AddrPort
	salt    uint32 // of the start that gave it
	key     secret
	blob    [blobSize]byte
	expires time.Duration
}

// wallet holds the newest ticket of each place, oldest first. The place's salt does not count: a
// new start there refuses the ticket, which costs as much as having none.
type wallet struct {
	limit   int
	tickets []keptTicket
}

// Keep implements mercury.Guard. It ignores anything that is not a ticket; since it came under
// seal, its sender has another version.
func (g *Guard) Keep(now time.Duration, to mercury.Address, ticket []byte) {
	if len(ticket) != TicketSize || ticket[0] != ticketVersion {
		return
	}
	life := time.Duration(binary.LittleEndian.Uint32(ticket[1:])) * time.Second
	if life <= 0 || life > MaxTicketLife {
		return
	}
	g.kept.put(keptTicket{
		at:      plain(to.At),
		salt:    to.Salt,
		key:     secret(ticket[5 : 5+32]),
		blob:    [blobSize]byte(ticket[5+32:]),
		expires: now + life,
	})
}

func (w *wallet) put(t keptTicket) {
	w.remove(t.at)
	if len(w.tickets) >= w.limit {
		w.tickets = slices.Delete(w.tickets, 0, 1)
	}
	w.tickets = append(w.tickets, t)
}

// take returns the ticket of a place and forgets it, since a ticket is good once.
func (w *wallet) take(now time.Duration, at netip.AddrPort) (t keptTicket, ok bool) {
	t, ok = w.remove(at)
	return t, ok && now < t.expires
}

func (w *wallet) remove(at netip.AddrPort) (t keptTicket, ok bool) {
	i := slices.IndexFunc(w.tickets, func(t keptTicket) bool { return t.at == at })
	if i < 0 {
		return t, false
	}
	t = w.tickets[i]
	w.tickets = slices.Delete(w.tickets, i, i+1) // Delete clears the end, so no secret stays there
	return t, true
}
