package baseapp

import "github.com/cellscape/cellscape/entity/client/protocol"

// A client that comes back to a session which has ended meanwhile is told why. Without that its
// token is one that nobody knows: it may be that of a base which this app is about to inherit, so
// that the client waits, and tries again, until its own time is over.

// maxEnded bounds the sessions of which an app remembers the end; the oldest is forgotten first. It
// is as many as it can have at once.
const maxEnded = MaxProxies

// ended are sessions that have ended here.
type ended struct {
	why map[protocol.Token]protocol.Refused
	// tokens is a ring: next is the oldest once it is full.
	tokens [][2]protocol.Token
	next   int
}

// endSeat ends the session, and remembers why. Only a script's reason to kick is in words for the
// player.
func (b *base) endSeat(code protocol.Code, reason string) {
	if s := b.seat; s != nil && b.app.resumable() {
		end := protocol.Refused{Code: code}
		if code == protocol.Kicked {
			end.Reason = reason
		}
		b.app.ended.note([2]protocol.Token{s.token, s.former}, end)
	}
	b.leaveSeat()
}

func (e *ended) note(tokens [2]protocol.Token, end protocol.Refused) {
	if e.why == nil {
		e.why = make(map[protocol.Token]protocol.Refused)
	}
	if len(e.tokens) < maxEnded {
		e.tokens = append(e.tokens, tokens)
	} else {
		for _, t := range e.tokens[e.next] {
			delete(e.why, t)
		}
		e.tokens[e.next] = tokens
		e.next = (e.next + 1) % maxEnded
	}
	for _, t := range tokens {
		if t != (protocol.Token{}) {
			e.why[t] = end
		}
	}
}

// endOf is why the session of a token has ended; nil if that is not known.
func (e *ended) endOf(t protocol.Token) error {
	if end, ok := e.why[t]; ok {
		return &end
	}
	return nil
}
