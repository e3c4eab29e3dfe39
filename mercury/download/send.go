package download

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
)

// UploadHandler hears of the end of what a sender offered. It may call any method of Uploads.
type UploadHandler interface {
	// UploadEnded tells once that a download is over, unless this side has cancelled it: with nil,
	// the receiver has all of it and has checked it; else err is a *Error, the reason given to
	// AbortAll, or the channel's error. The source is not used any more.
	UploadEnded(now time.Duration, ch mercury.ChannelID, id uint32, err error)
}

// Content is something to be downloaded.
type Content struct {
	// ID is the app's name for this download. It is not in use on the channel.
	ID uint32
	// Desc tells the receiver what it is, in up to MaxDesc bytes.
	Desc string
	// Source gives the bytes: a file, or bytes.NewReader of a slice. It is read piece by piece
	// inside Pump, and must not block for long, nor change before UploadEnded, nor call Uploads.
	Source io.ReaderAt
	// Size is the number of bytes, up to UploadConfig.MaxSize.
	Size int64
	// Digest is that of the content. If it is zero, Pump reads the source once more,
	// UploadConfig.HashPerPump at a time, before the content is offered; what is offered often
	// should have its digest.
	Digest Digest
}

// Uploads is the sending side of bulk downloads: a stream of megabytes to a client beside its game
// traffic. Downloads is the other side.
//
//	Uploads                                       Downloads
//	   │ offer (number, ID, size, digest, desc) ───> │ within limits? DownloadOffered
//	   │ <──────────────── accept (number, offset)   │ Accept: offset is what it has already
//	   │ data (number, bytes) ─────────────────────> │ to the sink, DownloadProgress
//	   │ data ...                                    │
//	   │ <───────────────────────── done (number)    │ digest is right: DownloadEnded
//	   │ UploadEnded                                 │
//
// In place of any of these, abort (from the left) or refuse (from the right) ends the download with
// a code.
//
// Pump keeps at most UploadConfig.Queue bytes waiting in a channel, whatever the size of the
// content, so that memory is bounded and a cancel takes hold soon; the channel sends them when it
// has nothing better to do. Downloads to one client take turns piece by piece, and so do clients
// under MaxTotalRate: a small file is not held up by a big one.
//
// The caller hands bulk messages to Take, calls Pump each tick, and AbortAll when a channel has
// closed or its client was given away. A receiver can choose where to begin, once, within the
// content; it can make Uploads read nothing else, and nothing twice.
//
// That downloads end with a word to the app when their client is given away follows seed S3.
//
// Uploads belongs to the goroutine of its app.
type Uploads struct {
	link     Link
	handler  UploadHandler
	cfg      UploadConfig
	channels []*uploadChannel // in the order of their first offer
	at       map[mercury.ChannelID]*uploadChannel
	number   uint64 // given out last
	turn     int    // the channel that Pump begins with
	total    tokens
	buf      []byte // for one piece
	msg      []byte // for one message
	later    afterwards
	stats    UploadStats
}

// uploadChannel is what goes on with one channel.
type uploadChannel struct {
	ch   mercury.ChannelID
	list []*upload
	turn int // the download that has the next piece
	room int // bytes that this Pump may still queue
	rate tokens
	out  outbox
}

// upload is one content.
type upload struct {
	number uint64
	Content
	state uploadState
	sent  int64         // bytes of it sent, or hashed while its digest is looked for
	hash  hash.Hash     // while the digest is looked for
	since time.Duration // when the receiver's answer was first waited for
}

type uploadState uint8

const (
	uploadHashing uploadState = iota // not offered yet
	uploadOffered                    // waits for accept
	uploadSending
	uploadSent // waits for done
)

// NewUploads makes the sending side over a link. handler must not be nil.
func NewUploads(link Link, handler UploadHandler, cfg UploadConfig) (*Uploads, error) {
	if link == nil || handler == nil {
		return nil, errors.New("download: Uploads need a link and a handler")
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Uploads{link: link, handler: handler, cfg: cfg, at: make(map[mercury.ChannelID]*uploadChannel), total: tokens{rate: cfg.MaxTotalRate}}, nil
}

// Stats returns the counters as they stand.
func (u *Uploads) Stats() UploadStats { return u.stats }

// Len is the number of downloads in progress.
func (u *Uploads) Len() int {
	n := 0
	for _, c := range u.channels {
		n += len(c.list)
	}
	return n
}

// Offer has content offered to the app at the other end of ch. It fails with ErrID, ErrTooMany,
// ErrLength for a size or description above its limit, or the channel's error; then UploadEnded
// does not follow.
func (u *Uploads) Offer(now time.Duration, ch mercury.ChannelID, content Content) error {
	switch {
	case content.Size < 0 || content.Size > u.cfg.MaxSize:
		return fmt.Errorf("%w: content of %d bytes, at most %d", codec.ErrLength, content.Size, u.cfg.MaxSize)
	case len(content.Desc) > MaxDesc:
		return fmt.Errorf("%w: description of %d bytes, at most %d", codec.ErrLength, len(content.Desc), MaxDesc)
	case content.Source == nil && content.Size > 0:
		return errors.New("download: content has no source")
	}
	if c, up := u.byID(ch, content.ID); up != nil {
		return ErrID
	} else if c != nil && len(c.list) >= u.cfg.MaxDownloads {
		return ErrTooMany
	}
	c := u.at[ch]
	if c == nil {
		c = &uploadChannel{ch: ch, rate: tokens{rate: u.cfg.MaxRate}}
		u.at[ch] = c
		u.channels = append(u.channels, c)
	}
	u.number++
	up := &upload{number: u.number, Content: content}
	if content.Digest.IsZero() {
		up.hash = sha256.New()
	} else if err := u.offer(now, c, up); err != nil {
		return err
	}
	c.list = append(c.list, up)
	u.stats.Offered++
	return nil
}

// offer tells the receiver of a content whose digest is known.
func (u *Uploads) offer(now time.Duration, c *uploadChannel, up *upload) error {
	up.state, up.sent, up.since, up.hash = uploadOffered, 0, now, nil
	return u.tell(c, &message{kind: kindOffer, number: up.number, id: up.ID, size: up.Size, digest: up.Digest, desc: []byte(up.Desc)})
}

func (u *Uploads) tell(c *uploadChannel, m *message) error {
	dropped, err := c.out.send(u.link, c.ch, m.append(nil))
	if dropped {
		u.stats.Dropped++
	}
	return err
}

// Cancel breaks a download off. The receiver is told, behind what waits in the channel. UploadEnded
// does not follow, and the source is not used any more.
func (u *Uploads) Cancel(ch mercury.ChannelID, id uint32) error {
	c, up := u.byID(ch, id)
	if up == nil {
		return ErrNoDownload
	}
	u.abort(c, up, Cancelled)
	u.drop(c, up)
	u.stats.Failed++
	return nil
}

// AbortAll ends all downloads of a channel with a reason: the channel has closed, or its client was
// given to another app. UploadEnded follows for each. If the channel still lives, the receiver is
// told.
func (u *Uploads) AbortAll(now time.Duration, ch mercury.ChannelID, reason error) {
	c := u.at[ch]
	if c == nil {
		return
	}
	for _, up := range c.list {
		if u.abort(c, up, Cancelled) != nil {
			break
		}
	}
	u.endAll(now, c, orCancelled(reason))
	if len(c.out.waiting) == 0 {
		delete(u.at, ch)
		u.channels = slices.DeleteFunc(u.channels, func(o *uploadChannel) bool { return o == c })
	}
	u.later.run()
}

// Progress tells how much of a content was handed to the channel, what the receiver had already
// included.
func (u *Uploads) Progress(ch mercury.ChannelID, id uint32) (sent, size int64, ok bool) {
	_, up := u.byID(ch, id)
	switch {
	case up == nil:
		return 0, 0, false
	case up.state == uploadHashing:
		return 0, up.Size, true
	}
	return up.sent, up.Size, true
}

func (u *Uploads) byID(ch mercury.ChannelID, id uint32) (*uploadChannel, *upload) {
	c := u.at[ch]
	if c == nil {
		return nil, nil
	}
	for _, up := range c.list {
		if up.ID == id {
			return c, up
		}
	}
	return c, nil
}

// Take handles one bulk message; false says that it is none of a receiver's, and not for Uploads.
// msg is not kept.
func (u *Uploads) Take(now time.Duration, ch mercury.ChannelID, msg []byte) bool {
	if len(msg) == 0 || msg[0] != kindAccept && msg[0] != kindRefuse && msg[0] != kindDone {
		return false
	}
	var m message
	if m.decode(msg) != nil {
		u.stats.Malformed++
		return true
	}
	c := u.at[ch]
	i := -1
	if c != nil {
		i = slices.IndexFunc(c.list, func(up *upload) bool { return up.number == m.number && up.state != uploadHashing })
	}
	if i < 0 {
		u.stats.Unknown++
		return true
	}
	u.answered(now, c, c.list[i], &m)
	u.later.run()
	return true
}

// answered does what the receiver says about one download.
func (u *Uploads) answered(now time.Duration, c *uploadChannel, up *upload, m *message) {
	switch {
	case m.kind == kindRefuse:
		u.fail(now, c, up, &Error{Code: m.code, Remote: true})
	case m.kind == kindAccept && up.state == uploadOffered && m.offset <= up.Size:
		up.state, up.sent = uploadSending, m.offset
		u.sentSome(now, up, 0)
	case m.kind == kindDone && up.state == uploadSent:
		u.drop(c, up)
		u.stats.Finished++
		u.later.add(func() { u.handler.UploadEnded(now, c.ch, up.ID, nil) })
	default: // an accept beyond the end or a second one, a done before the end
		u.stats.Malformed++
		u.giveUp(now, c, up, &Error{Code: BrokenProtocol})
	}
}

// sentSome counts n bytes of content as sent.
func (u *Uploads) sentSome(now time.Duration, up *upload, n int) {
	up.sent += int64(n)
	u.stats.Bytes += uint64(n)
	if up.sent == up.Size {
		up.state, up.since = uploadSent, now
	}
}

// giveUp ends a download at this end and tells the receiver.
func (u *Uploads) giveUp(now time.Duration, c *uploadChannel, up *upload, why *Error) {
	_ = u.abort(c, up, why.Code) // a channel that is gone needs no word
	u.fail(now, c, up, why)
}

// abort tells the receiver of a download that it knows of.
func (u *Uploads) abort(c *uploadChannel, up *upload, code Code) error {
	if up.state == uploadHashing {
		return nil
	}
	return u.tell(c, &message{kind: kindAbort, number: up.number, code: code})
}

// fail ends one download and tells the app.
func (u *Uploads) fail(now time.Duration, c *uploadChannel, up *upload, reason error) {
	u.drop(c, up)
	u.stats.Failed++
	u.later.add(func() { u.handler.UploadEnded(now, c.ch, up.ID, reason) })
}

func (u *Uploads) endAll(now time.Duration, c *uploadChannel, reason error) {
	for len(c.list) > 0 {
		u.fail(now, c, c.list[0], reason)
	}
}

// drop takes a download out of its channel; whose turn it is stays as it was.
func (u *Uploads) drop(c *uploadChannel, up *upload) {
	i := slices.Index(c.list, up)
	if i < 0 {
		return
	}
	c.list = slices.Delete(c.list, i, i+1)
	if i < c.turn {
		c.turn--
	}
}
