package protocol

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
)

// Stream says in which count of a session a reliable message from the server is; see "Lost
// channels" in the package comment.
type Stream uint8

// The streams from the server to a client.
const (
	// BaseStream is of the proxy itself.
	BaseStream Stream = iota
	// CellStream is of the cell part, whose bundles the proxy relays.
	CellStream
	// NoStream is of what concerns only the channel that it comes by. It is not counted, and not
	// sent again.
	NoStream
	// Streams is how many are counted.
	Streams = int(NoStream)
)

// AheadID marks a bundle of the cell part that goes ahead of its tick, and so has no number.
const AheadID ID = BundleID + 1

// Switch tells the client that its session goes on now, and where. It says so over the last channel to the
// BaseApp that held it; nothing follows.
type Switch struct {
	Doors []Door
	// Fallback is where it goes on if that app is gone by then; none if nowhere.
	Fallback []Door
}

func (m *Switch) code(c *codec.Coder) {
	codeDoors(c, &m.Doors)
	codeDoors(c, &m.Fallback)
}

// Append frames and encodes m, Parse decodes a body.
func (m *Switch) Append(b []byte) []byte  { return frame(b, SwitchID, m.code) }
func (m *Switch) Parse(body []byte) error { return parse(body, m, m.code) }

// AppendAhead marks the bundle that follows.
func AppendAhead(b []byte) []byte { return bare(b, AheadID) }

// StreamOf says in which stream a reliable message from the server is, by its first byte.
func StreamOf(bundle []byte) Stream {
	if len(bundle) == 0 {
		return BaseStream
	}
	switch ID(bundle[0]) {
	case BundleID, AheadID:
		return CellStream
	case RefusedID, ResumedID, SettledID, FallbackID, PongID, NewTokenID, SwitchID:
		return NoStream
	}
	return BaseStream
}

// Uploaded reports whether a reliable message of a client is counted, so that it is sent again over
// the next channel if its own was lost.
func Uploaded(id ID) bool {
	switch id {
	case CellCallID, BaseCallID, MoveID, MoveOtherID, AuditRequestID, EnableEntitiesID:
		return true
	}
	return false
}

// Counts say how many messages of each stream there were in a session.
type Counts [Streams]uint64

func (n *Counts) code(c *codec.Coder) {
	for i := range n {
		c.Uvarint(&n[i])
	}
}

// MaxResumeTime bounds for how long a place is kept whose channel was lost.
const MaxResumeTime = time.Hour

// Attached says that the proxy has accepted the client.
type Attached struct {
	// Token resumes the session over another channel, within Time of the loss of this one. It is a
	// secret. A Time of 0 means that the session ends with its channel.
	Token Token
	Time  time.Duration // in milliseconds on the wire
}

func (m *Attached) code(c *codec.Coder) {
	c.Array(m.Token[:])
	ms := uint64(m.Time / time.Millisecond)
	c.Uvarint(&ms)
	if ms > uint64(MaxResumeTime/time.Millisecond) {
		c.Fail(fmt.Errorf("resume time of %d ms", ms))
		return
	}
	m.Time = time.Duration(ms) * time.Millisecond
}

// Append frames and encodes m, Parse decodes a body.
func (m *Attached) Append(b []byte) []byte  { return frame(b, AttachedID, m.code) }
func (m *Attached) Parse(body []byte) error { return parse(body, m, m.code) }

// Resume is the first message over a channel by which a client goes on with its session, or begins it
// if it has heard nothing since the LoginOK.
type Resume struct {
	Token Token // of the last LoginOK, Attached, Resumed or NewToken
	// Former is the one before, zero if there is none: an app that goes on with the session may have a
	// copy of the proxy that does not know Token yet.
	Former Token
	Digest Digest
	// Ready is that of the Attach, for a proxy that knows nothing of one.
	Ready bool
	// Has is how many messages of each stream the client has had.
	Has Counts
	// Incarnation is that of the cell part whose view the client has, or one more if it was told to
	// forget that, 0 if it has seen none. A proxy that was restored may not know of it: the client has
	// then forgotten the view that the proxy would go on with.
	Incarnation uint32
}

func (m *Resume) code(c *codec.Coder) {
	c.Array(m.Token[:])
	c.Array(m.Former[:])
	c.Array(m.Digest[:])
	c.Bool(&m.Ready)
	m.Has.code(c)
	codec.Uint32(c, &m.Incarnation)
}

// Append frames and encodes m, Parse decodes a body.
func (m *Resume) Append(b []byte) []byte  { return frame(b, ResumeID, m.code) }
func (m *Resume) Parse(body []byte) error { return parse(body, m, m.code) }

// Resumed answers a Resume. All that the client lacks follows.
type Resumed struct {
	Token Token // for the next time
	// Handled is how many uploads of the client the proxy has handled: the client sends the later
	// ones again.
	Handled uint64
	// From is how many messages of each stream come before those that follow. It is less than the
	// client said if the proxy was restored since: what it then says itself is new.
	From Counts
}

func (m *Resumed) code(c *codec.Coder) {
	c.Array(m.Token[:])
	c.Uvarint(&m.Handled)
	m.From.code(c)
}

// Append frames and encodes m, Parse decodes a body.
func (m *Resumed) Append(b []byte) []byte  { return frame(b, ResumedID, m.code) }
func (m *Resumed) Parse(body []byte) error { return parse(body, m, m.code) }

// Heard tells the proxy how many messages of each stream the client has had: it need not keep them
// any more.
type Heard struct{ Has Counts }

// Append frames and encodes m, Parse decodes a body.
func (m *Heard) Append(b []byte) []byte {
	b, mark := Begin(b, HeardID)
	for _, n := range m.Has {
		b = binary.AppendUvarint(b, n)
	}
	return End(b, mark)
}

func (m *Heard) Parse(body []byte) error {
	r := codec.NewReader(body)
	for i := range m.Has {
		m.Has[i] = r.Uvarint()
	}
	return done(&r, "heard")
}

// AppendSettled tells the client how many of its uploads will never be asked for again.
func AppendSettled(b []byte, uploads uint64) []byte {
	b, mark := Begin(b, SettledID)
	return End(binary.AppendUvarint(b, uploads), mark)
}

// ParseSettled decodes a body.
func ParseSettled(body []byte) (uploads uint64, err error) {
	r := codec.NewReader(body)
	uploads = r.Uvarint()
	return uploads, done(&r, "settled")
}

// AppendPong answers a ping: the proxy is there.
func AppendPong(b []byte) []byte { return bare(b, PongID) }

// Fallback tells the client where its session goes on if the BaseApp is gone that holds it. It
// replaces the former one.
type Fallback struct {
	// Doors are those of the app that goes on with it, and then of those that do if that is gone,
	// too; none if nowhere.
	Doors []Door
}

func (m *Fallback) code(c *codec.Coder) { codeDoors(c, &m.Doors) }

// Append frames and encodes m, Parse decodes a body.
func (m *Fallback) Append(b []byte) []byte  { return frame(b, FallbackID, m.code) }
func (m *Fallback) Parse(body []byte) error { return parse(body, m, m.code) }
