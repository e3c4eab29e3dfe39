package sim

import (
	"fmt"
	"maps"

	"github.com/cellscape/cellscape/entity/stored"
)

// survey is a ledger's question to the store for all ledgers, from the highest count down, two at a
// time. What the store had confirmed when it asked must be in the answer.
type survey struct {
	least map[uint64]int64 // by row, when it asked
	from  int64            // the count of the row before
	last  stored.Row
}

func (b *ledger) survey() {
	b.asked = &survey{least: maps.Clone(b.w.books.least), from: 1 << 62}
	b.ask()
}

func (b *ledger) ask() {
	q := stored.Query{Type: "Ledger", Property: "count", Descending: true, Limit: 2}
	if b.asked.last.Row != 0 {
		q.After = &b.asked.last
	}
	if err := b.QueryStore(q, "OnPage", 0); err != nil {
		b.asked = nil
	}
}

// OnPage takes a page. A ledger that was restored has forgotten what it asked for.
func (b *ledger) OnPage(p stored.Page) {
	k, s := b.w.books, b.asked
	if p.Err != nil {
		b.asked = nil
		k.surveysFailed++
		return
	}
	if s == nil {
		return
	}
	for _, r := range p.Rows {
		n := r.Get("count").Int()
		switch {
		case n > s.from:
			k.lost = append(k.lost, fmt.Sprintf("a survey has row %d with %d after %d", r.Row, n, s.from))
		case n < s.least[r.Row]:
			k.lost = append(k.lost, fmt.Sprintf("a survey has row %d with %d, and %d was confirmed", r.Row, n, s.least[r.Row]))
		}
		s.from, s.last = n, r
		k.rowsSeen++
	}
	if p.More {
		b.ask()
		return
	}
	b.asked = nil
}
