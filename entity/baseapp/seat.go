package baseapp

import (
	"errors"
	"math"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/tail"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// seat is a client's place at its proxy. It outlives the client's channel:
//
//	            attach                the channel is lost
//	no seat ─────────────▶ taken ─────────────────────────▶ kept ──▶ ResumeTime, TooSlow: no seat
//	   ▲                   │  ▲                               │
//	   │ logout, kick,     │  └──────── resume, by a token ───┘
//	   └───────────────────┘            (also while it is taken: the newer channel wins)
//	     proper end, destroy
//
// Invariants:
//
//   - Each reliable message to the client has a number in its stream. It is in the tail until the
//     client has said that it has it, so a channel may be lost at any point.
//   - The client is sent the messages of the tail in their order, and each once over a channel.
//   - Uploads counts what was handled of the client's reliable messages, so a resumed client sends
//     each of the others again, and no more.
//   - Token is good, and Former is until the client has shown that it got Token. A token resumes one
//     seat, and both are forgotten with it.
//   - A seat that is kept has no client, and is given up at Until.
//   - The cell part knows of the session, and the client hears of the entity, from when it is enabled.
type seat struct {
	base   *base
	client *client // nil while the seat is kept

	token, former protocol.Token // former is zero once the client has shown that it got token
	enabled       bool           // it is ready, and has been sent the base part
	given         bool           // it comes from another proxy, and has yet to be ready again
	from          entity.ID      // that one
	until         time.Duration  // when a kept seat is given up
	lost          string         // why the channel ended, while it is kept

	tail    tail.Tail
	sent    protocol.Counts // numbers of the last messages
	has     protocol.Counts // what the client has
	uploads uint64          // handled
	// saved of them are in a copy that is on its way to those who hold it, settled in one that they hold.
	saved, settled uint64
	told           uint64        // of those, the client was told that they are settled
	toldAt         time.Duration // when it may be told again
	heardAt        time.Duration // when the last message of the client came

	// restored says that the seat was read from a stream, and no client has resumed it since. The client
	// may have had more of a stream than is shared, but that was of a past that has not been: it is told
	// anew. A client that shows token shares shared[0], and one that shows former shares shared[1].
	restored bool
	shared   [2]protocol.Counts

	fallback []protocol.Door // where the client was told to go if this app is gone
}

const (
	// settledPeriod is how often a client is told at most which of its messages are settled, but for
	// one that has many waiting.
	settledPeriod = time.Second
	// settledMany is how many that is: far below what a client keeps (client.MaxUnsettled).
	settledMany = 256

	// resendRoom is how many bytes of a tail wait in a channel at once. It is below SlowClient, so that
	// a client that resumes is not taken for a slow one.
	resendRoom = SlowClient / 2
)

// lostChannel reports whether a channel that ended for that reason may be followed by another. One
// that the client has closed properly is the end of its session, as is one on which it broke the
// protocol.
func lostChannel(reason error) bool {
	for _, end := range []error{mercury.ErrPeerClosed, mercury.ErrProtocol, mercury.ErrMessageTooLong, mercury.ErrKey} {
		if errors.Is(reason, end) {
			return false
		}
	}
	return true
}

// codeOf is what the end of a channel means for its session.
func codeOf(reason error) protocol.Code {
	switch {
	case errors.Is(reason, mercury.ErrPeerClosed):
		return protocol.LoggedOut
	case lostChannel(reason):
		return protocol.ConnectionLost
	}
	return protocol.Malformed
}

// resumable reports whether sessions outlive their channels.
func (a *BaseApp) resumable() bool { return a.cfg.ResumeTime > 0 }

// newToken gives the client another token, and leaves it the one that it has shown.
func (s *seat) newToken(shown protocol.Token) {
	s.base.backupSoon() // the next app must know it
	a := s.base.app
	for _, t := range [...]protocol.Token{s.token, s.former} {
		if t != shown {
			delete(a.seats, t)
		}
	}
	s.shared = [2]protocol.Counts{allShared(), s.sharedBy(shown)}
	s.former = shown
	a.cfg.Secrets(s.token[:])
	a.seats[s.token] = s
}

// allShared is what is shared with a client that has heard of no past but this.
func allShared() protocol.Counts {
	return protocol.Counts{protocol.BaseStream: math.MaxUint64, protocol.CellStream: math.MaxUint64}
}

// sharedBy is what is shared with a client that shows a token.
func (s *seat) sharedBy(t protocol.Token) protocol.Counts {
	if t == s.token {
		return s.shared[0]
	}
	return s.shared[1]
}

// confirm is called when the client has shown that it got the token of this channel.
func (s *seat) confirm() {
	if s.former != (protocol.Token{}) {
		delete(s.base.app.seats, s.former)
		s.former = protocol.Token{}
	}
	s.restored = false
}

// unseat takes the base its client: no token resumes its session here any more.
func (b *base) unseat() {
	if s := b.seat; s != nil {
		delete(b.app.seats, s.token)
		delete(b.app.seats, s.former)
		b.seat = nil
	}
}

// leaveSeat ends the session.
func (b *base) leaveSeat() {
	s := b.seat
	if s == nil {
		return
	}
	b.endGiving()
	b.unseat()
	if c := s.client; c != nil {
		s.client, c.base = nil, nil
		b.app.downloads.AbortAll(b.app.now, c.ch, errNoClient)
	}
}

// tell sends the client a reliable message of the base; msg may be the app's scratch. Without a client that
// is ready nobody hears it.
func (b *base) tell(msg []byte) {
	if b.shown() {
		b.seat.add(protocol.BaseStream, msg)
	}
}

// add sends a message of a stream, or keeps it until there is a channel with room for it. A client of a
// restored seat may have it already.
func (s *seat) add(stream protocol.Stream, msg []byte) {
	s.sent[stream]++
	if s.sent[stream] <= s.has[stream] {
		return
	}
	s.tail.Add(uint8(stream), s.sent[stream], msg)
	s.pump()
}

// forgetCell is called before the client is told to forget the cell part: of another incarnation it has
// nothing yet, however many messages of the one before it had.
func (s *seat) forgetCell() {
	const cell = protocol.CellStream
	s.sent[cell] = max(s.sent[cell], s.has[cell])
	for i := range s.shared {
		if s.restored && (s.client == nil || i > 0) {
			s.shared[i][cell] = min(s.shared[i][cell], s.sent[cell])
		}
	}
}

// pump sends what the channel has not been given. What was kept goes bit by bit, as there is room.
func (s *seat) pump() {
	c := s.client
	if c == nil {
		return
	}
	for {
		_, msg, ok := s.tail.Next()
		if !ok {
			c.catching = false
			return
		}
		if c.catching {
			if waiting, _ := s.base.app.net.Queued(c.ch); waiting >= resendRoom {
				return
			}
		}
		if !c.give(msg) {
			return
		}
		s.tail.Sent()
		if !s.base.app.resumable() {
			s.tail.Drop()
		}
	}
}

// refuse tells the client why its session ends, if it is there.
func (s *seat) refuse(code protocol.Code) {
	if s.client != nil {
		s.client.refuse(code, "")
	}
}

// hears takes the client's word on what it has. It reports false for what was never sent.
func (s *seat) hears(has protocol.Counts) bool {
	for i, n := range has {
		if n > max(s.sent[i], s.has[i]) || n < s.has[i] {
			return false
		}
	}
	s.has = has
	for {
		stream, number, ok := s.tail.First()
		if !ok || number > has[stream] {
			return true
		}
		s.tail.Drop()
	}
}

// reached reports whether a client that resumes can have had so much.
func (s *seat) reached(has protocol.Counts) bool {
	for i, n := range has {
		if n > max(s.sent[i], s.has[i]) && !s.restored {
			return false
		}
	}
	return true
}

// resume gives the seat another channel, over which the client goes on.
func (s *seat) resume(c *client, m *protocol.Resume) {
	b, a := s.base, s.base.app
	has := m.Has
	for i, shared := range s.sharedBy(m.Token) {
		if s.restored {
			has[i] = min(has[i], shared)
		}
	}
	// It has heard of a past that has not been, and there of a later incarnation than this life knows.
	astray := s.enabled && has[protocol.BaseStream] < m.Has[protocol.BaseStream] && b.told != 0 && b.told < m.Incarnation
	if astray {
		has[protocol.CellStream] = m.Has[protocol.CellStream]
		s.outdated(has[protocol.CellStream])
		b.shownTo = m.Incarnation
	}
	old := s.client
	if old != nil {
		c.inherit(old)
		old.base = nil
		old.abort()
	}
	c.credit(a.now - s.heardAt)
	s.client, c.base, c.catching = c, b, true
	s.has, s.heardAt, s.lost, s.until = has, a.now, "", 0
	s.tail.Keep(func(stream uint8, number uint64) bool { return number > has[stream] })
	s.newToken(m.Token)
	r := protocol.Resumed{Token: s.token, Handled: s.uploads, From: has}
	c.control(r.Append(a.buf[:0])) // a new channel has room
	s.told = 0
	b.room, b.rate = uint32(a.net.MaxUnreliable(c.ch)), 0
	b.setCellClient()
	if len(s.fallback) > 0 {
		s.sayFallback()
	}
	s.pump()
	a.report.Resumed++
	if b.traced() {
		b.step("client resumed", "session", b.session)
	}
	b.log.Info("client resumed", "account", b.account, "session", b.session)
	if old != nil {
		a.downloads.AbortAll(a.now, old.ch, errNoClient) // tells the script, which may destroy b
	}
	if astray && !b.removed {
		b.endOutdated()
	}
}

// outdated drops what there is for a client of an incarnation whose view it has forgotten: in a past
// that has not been it was told of the next one, and what it has counted since is of that.
func (s *seat) outdated(has uint64) {
	s.tail.Keep(func(stream uint8, _ uint64) bool { return protocol.Stream(stream) != protocol.CellStream })
	s.sent[protocol.CellStream] = has
}

// endOutdated ends a cell part that comes before the one that the client was shown. A client that
// lies has its own entity restored, as when its CellApp dies: once, and only after its BaseApp has
// died.
func (b *base) endOutdated() {
	if order := b.link.Order(); b.link.Shown(b.app.now, b.shownTo) {
		b.log.Warn("the cell part was ended before, by a former life of the base", "order", order, "shown", b.shownTo)
		b.settleLink()
	}
}

// sayProperties tells the client all that it may know of the base part, before anything of the next life
// changes a part of it: what it was told since the backup is not so any more.
func (s *seat) sayProperties() {
	props := s.base.props
	for _, i := range props.Definition().Stream(property.OwnClientBaseStream) {
		s.base.PropertyChanged(&property.Change{Index: i, New: props.Get(i)})
	}
}

// fallTo tells the client where its session goes on if this app is gone. None is nowhere.
func (s *seat) fallTo(doors []protocol.Door) {
	s.fallback = doors
	s.sayFallback()
}

func (s *seat) sayFallback() {
	if s.client != nil && s.base.app.resumable() {
		m := protocol.Fallback{Doors: s.fallback}
		s.client.control(m.Append(s.base.app.buf[:0]))
	}
}

// interrupt keeps the seat of a client whose channel is lost. The cell part tells it less until it is
// back.
func (s *seat) interrupt(reason string) {
	b, c := s.base, s.client
	s.client, c.base = nil, nil
	s.until, s.lost = b.app.now+b.app.cfg.ResumeTime, reason
	b.app.report.Interrupted++
	if b.traced() {
		b.step("client interrupted", "session", b.session, "reason", reason)
	}
	b.log.Info("client interrupted", "account", b.account, "session", b.session, "reason", reason)
	b.setCellClient()
	b.app.downloads.AbortAll(b.app.now, c.ch, errNoClient) // tells the script, which may destroy b
}

// wait is the tick of a seat that is kept.
func (s *seat) wait() {
	switch b := s.base; {
	case s.tail.Size() > MaxClientBacklog:
		b.app.refused("more waits for a client that is away than is kept", "entity", b.id, "waiting", s.tail.Size())
		b.clientDied(protocol.TooSlow, protocol.TooSlow.String())
	case b.app.now >= s.until && !b.gives():
		b.clientDied(protocol.ConnectionLost, s.lost)
	}
}

// settledUploads is how many of the client's messages nobody will ask for again.
func (b *base) settledUploads() uint64 {
	if !b.protected() {
		return b.seat.uploads
	}
	return b.seat.settled
}

// tellSettled tells the client which of its messages it need not keep.
func (s *seat) tellSettled() {
	settled, now := s.base.settledUploads(), s.base.app.now
	if !s.base.app.resumable() || settled == s.told || now < s.toldAt && settled < s.told+settledMany {
		return
	}
	if s.client.control(protocol.AppendSettled(s.base.app.buf[:0], settled)) {
		s.told, s.toldAt = settled, now+settledPeriod
	}
}

// relayed passes on a bundle of the cell part. One that goes ahead of its tick has no number, and is
// marked.
func (s *seat) relayed(bundle []byte) {
	a := s.base.app
	if len(bundle) > 0 && protocol.ID(bundle[0]) == protocol.BundleID {
		a.report.BundlesSent++
		s.add(protocol.CellStream, bundle)
		return
	}
	a.buf = append(protocol.AppendAhead(a.buf[:0]), bundle...)
	s.add(protocol.CellStream, a.buf)
}
