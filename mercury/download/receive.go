package download

import (
	"errors"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// DownloadHandler hears of what happens to the downloads of a receiver. Its methods may call any
// method of Downloads.
type DownloadHandler interface {
	// DownloadOffered tells of a content within the limits. The app answers by Accept or Cancel,
	// now or later; the sender waits for a bounded time.
	DownloadOffered(now time.Duration, ch mercury.ChannelID, offer Offer)
	// DownloadProgress tells how much of a content is stored, at most once in
	// DownloadConfig.ProgressEvery.
	DownloadProgress(now time.Duration, ch mercury.ChannelID, id uint32, received, size int64)
	// DownloadEnded tells that an offer or a download is over, unless this side has cancelled it. A
	// nil err says that all is stored and is what was announced. Else part, if not zero, goes with
	// the sink to the Accept of the next offer of the same content. err is a *Error, or the reason
	// given to AbortAll.
	DownloadEnded(now time.Duration, ch mercury.ChannelID, id uint32, part Part, err error)
}

// Offer is a content that a sender has to give.
type Offer struct {
	ID     uint32 // the sender's name for this download; one in progress on a channel has it
	Desc   string // the sender's words, up to MaxDesc bytes of anything: not to be used as a path as it is
	Size   int64  // bytes
	Digest Digest
}

// Downloads is the receiving side of bulk downloads: it takes contents that Uploads at the other
// end of a channel offer, writes them to the app's sinks in order, and checks them. It needs no
// clock of its own: it acts when Take brings a message.
//
// The caller hands bulk messages to Take, calls Pump each tick, and AbortAll when a channel has
// closed. A sender can make it hold no more than MaxDownloads times an offer per channel; content
// goes to the sink piece by piece, never beyond the size that the app has accepted.
//
// Downloads belongs to the goroutine of its app.
type Downloads struct {
	link     Link
	handler  DownloadHandler
	cfg      DownloadConfig
	channels []*downloadChannel // in the order of their first offer
	at       map[mercury.ChannelID]*downloadChannel
	later    afterwards
	stats    DownloadStats
}

// downloadChannel is what goes on with one channel.
type downloadChannel struct {
	ch   mercury.ChannelID
	list []*download
	out  outbox
}

// download is one content on its way. It is an offer while hash is nil.
type download struct {
	number   uint64
	offer    Offer
	received int64
	sink     io.WriterAt
	hash     hash.Hash // over the received bytes
	told     time.Duration
}

// NewDownloads makes the receiving side over a link. handler must not be nil.
func NewDownloads(link Link, handler DownloadHandler, cfg DownloadConfig) (*Downloads, error) {
	if link == nil || handler == nil {
		return nil, errors.New("download: Downloads need a link and a handler")
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Downloads{link: link, handler: handler, cfg: cfg.withDefaults(), at: make(map[mercury.ChannelID]*downloadChannel)}, nil
}

// Stats returns the counters as they stand.
func (d *Downloads) Stats() DownloadStats { return d.stats }

// Len is the number of offers and downloads in progress.
func (d *Downloads) Len() int {
	n := 0
	for _, c := range d.channels {
		n += len(c.list)
	}
	return n
}

// Pump sends answers that found no room before. Call it each tick.
func (d *Downloads) Pump(now time.Duration) {
	kept := d.channels[:0]
	for _, c := range d.channels {
		if err := c.out.retry(d.link, c.ch); err != nil {
			d.endAll(now, c, err)
		}
		if len(c.list) == 0 && len(c.out.waiting) == 0 {
			delete(d.at, c.ch)
			continue
		}
		kept = append(kept, c)
	}
	clear(d.channels[len(kept):])
	d.channels = kept
	d.later.run()
}

// Take handles one bulk message; false says that it is none of a sender's, and not for Downloads.
// msg is not kept.
func (d *Downloads) Take(now time.Duration, ch mercury.ChannelID, msg []byte) bool {
	if len(msg) == 0 || msg[0] != kindOffer && msg[0] != kindData && msg[0] != kindAbort {
		return false
	}
	var m message
	if m.decode(msg) != nil {
		d.stats.Malformed++
		return true
	}
	if m.kind == kindOffer {
		d.offered(now, ch, &m)
	} else if c, l := d.find(ch, func(l *download) bool { return l.number == m.number }); l == nil {
		d.stats.Unknown++
	} else if m.kind == kindData {
		d.data(now, c, l, m.data)
	} else {
		d.fail(now, c, l, &Error{Code: m.code, Remote: true})
	}
	d.later.run()
	return true
}

// find looks for a download in progress on a channel.
func (d *Downloads) find(ch mercury.ChannelID, is func(*download) bool) (*downloadChannel, *download) {
	c := d.at[ch]
	if c == nil {
		return nil, nil
	}
	for _, l := range c.list {
		if is(l) {
			return c, l
		}
	}
	return c, nil
}

func (d *Downloads) byID(ch mercury.ChannelID, id uint32) (*downloadChannel, *download) {
	return d.find(ch, func(l *download) bool { return l.offer.ID == id })
}

// offered takes an offer in, or refuses it before anything is kept of it.
func (d *Downloads) offered(now time.Duration, ch mercury.ChannelID, m *message) {
	if _, l := d.find(ch, func(l *download) bool { return l.number == m.number }); l != nil {
		d.stats.Malformed++ // an answer would end the one that has the number
		return
	}
	c := d.at[ch]
	if c == nil {
		c = &downloadChannel{ch: ch}
		d.at[ch] = c
		d.channels = append(d.channels, c)
	}
	_, twin := d.byID(ch, m.id)
	refuse := Code(0)
	switch {
	case twin != nil:
		d.stats.Malformed++
		refuse = BrokenProtocol
	case m.size > d.cfg.MaxSize:
		refuse = TooLarge
	case len(c.list) >= d.cfg.MaxDownloads:
		refuse = TooMany
	}
	if refuse != 0 {
		d.stats.Refused++
		_ = d.answer(c, &message{kind: kindRefuse, number: m.number, code: refuse})
		return
	}
	l := &download{number: m.number, offer: Offer{ID: m.id, Desc: string(m.desc), Size: m.size, Digest: m.digest}}
	c.list = append(c.list, l)
	d.stats.Offered++
	d.later.add(func() {
		// The app may have ended it in a callback before this one.
		if slices.Contains(c.list, l) {
			d.handler.DownloadOffered(now, ch, l.offer)
		}
	})
}

// answer tells the sender.
func (d *Downloads) answer(c *downloadChannel, m *message) error {
	dropped, err := c.out.send(d.link, c.ch, m.append(nil))
	if dropped {
		d.stats.Dropped++
	}
	return err
}

// Accept takes an offer. Content is written to sink from part.Received on, in order; sink is not
// used after DownloadEnded or Cancel. A part that is not zero must be of the same content, else
// ErrPart, and the offer waits on. ErrNoDownload says that there is no offer with this ID, or that
// it was accepted before. Another error is the channel's; the download has then ended without
// DownloadEnded.
func (d *Downloads) Accept(now time.Duration, ch mercury.ChannelID, id uint32, sink io.WriterAt, part Part) error {
	c, l := d.byID(ch, id)
	if l == nil || l.hash != nil {
		return ErrNoDownload
	}
	if sink == nil {
		return errors.New("download: Accept needs a sink")
	}
	if !part.IsZero() && (part.Digest != l.offer.Digest || part.Size != l.offer.Size || part.Received < 0 || part.Received > part.Size) {
		return ErrPart
	}
	h, err := part.resume()
	if err != nil {
		return err
	}
	l.hash, l.sink, l.received, l.told = h, sink, part.Received, now
	if err := d.answer(c, &message{kind: kindAccept, number: l.number, offset: l.received}); err != nil {
		d.drop(c, l)
		d.stats.Failed++
		return err
	}
	d.finish(now, c, l)
	d.later.run()
	return nil
}

// Cancel refuses an offer, or breaks a download off and gives the part that is stored. The sender
// is told; what is still on its way is dropped. DownloadEnded does not follow.
func (d *Downloads) Cancel(ch mercury.ChannelID, id uint32) (Part, error) {
	c, l := d.byID(ch, id)
	if l == nil {
		return Part{}, ErrNoDownload
	}
	code := Cancelled
	if l.hash == nil {
		code = Refused
	}
	d.drop(c, l)
	d.stats.Failed++
	_ = d.answer(c, &message{kind: kindRefuse, number: l.number, code: code})
	return l.part(), nil
}

// AbortAll ends all offers and downloads of a channel with a reason: the channel has closed, or the
// client was given to another app. DownloadEnded follows for each. If the channel still lives, the
// sender is told.
func (d *Downloads) AbortAll(now time.Duration, ch mercury.ChannelID, reason error) {
	c := d.at[ch]
	if c == nil {
		return
	}
	for _, l := range c.list {
		if d.answer(c, &message{kind: kindRefuse, number: l.number, code: Cancelled}) != nil {
			break
		}
	}
	d.endAll(now, c, orCancelled(reason))
	if len(c.out.waiting) == 0 {
		delete(d.at, ch)
		d.channels = slices.DeleteFunc(d.channels, func(o *downloadChannel) bool { return o == c })
	}
	d.later.run()
}

// Progress tells how much of a download is stored.
func (d *Downloads) Progress(ch mercury.ChannelID, id uint32) (received, size int64, ok bool) {
	_, l := d.byID(ch, id)
	if l == nil {
		return 0, 0, false
	}
	return l.received, l.offer.Size, true
}

// data stores one piece.
func (d *Downloads) data(now time.Duration, c *downloadChannel, l *download, piece []byte) {
	if l.hash == nil || int64(len(piece)) > l.offer.Size-l.received {
		d.stats.Malformed++
		d.giveUp(now, c, l, &Error{Code: BrokenProtocol})
		return
	}
	n, err := l.sink.WriteAt(piece, l.received)
	if err == nil && n < len(piece) {
		err = io.ErrShortWrite
	}
	if err != nil {
		d.giveUp(now, c, l, &Error{Code: SinkFailed, Cause: err})
		return
	}
	_, _ = l.hash.Write(piece) // a hash never fails
	l.received += int64(len(piece))
	d.stats.Bytes += uint64(len(piece))
	if d.finish(now, c, l) || now-l.told < d.cfg.ProgressEvery {
		return
	}
	l.told = now
	received := l.received
	d.later.add(func() {
		if slices.Contains(c.list, l) {
			d.handler.DownloadProgress(now, c.ch, l.offer.ID, received, l.offer.Size)
		}
	})
}

// finish checks a content that is whole and tells both sides.
func (d *Downloads) finish(now time.Duration, c *downloadChannel, l *download) bool {
	if l.received < l.offer.Size {
		return false
	}
	if Digest(l.hash.Sum(nil)) != l.offer.Digest {
		l.received = 0 // none of it can be trusted
		d.giveUp(now, c, l, &Error{Code: WrongDigest})
		return true
	}
	d.drop(c, l)
	d.stats.Finished++
	// A channel that closes now leaves the sender in doubt; the content is here all the same.
	_ = d.answer(c, &message{kind: kindDone, number: l.number})
	d.later.add(func() { d.handler.DownloadEnded(now, c.ch, l.offer.ID, Part{}, nil) })
	return true
}

// giveUp ends a download at this end and tells the sender.
func (d *Downloads) giveUp(now time.Duration, c *downloadChannel, l *download, why *Error) {
	_ = d.answer(c, &message{kind: kindRefuse, number: l.number, code: why.Code})
	d.fail(now, c, l, why)
}

// fail ends one download and tells the app.
func (d *Downloads) fail(now time.Duration, c *downloadChannel, l *download, reason error) {
	d.drop(c, l)
	d.stats.Failed++
	part := l.part()
	d.later.add(func() { d.handler.DownloadEnded(now, c.ch, l.offer.ID, part, reason) })
}

func (d *Downloads) endAll(now time.Duration, c *downloadChannel, reason error) {
	for len(c.list) > 0 {
		d.fail(now, c, c.list[0], reason)
	}
}

// drop takes a download out of its channel.
func (d *Downloads) drop(c *downloadChannel, l *download) {
	if i := slices.Index(c.list, l); i >= 0 {
		c.list = slices.Delete(c.list, i, i+1)
	}
}

// part is what can be gone on with.
func (l *download) part() Part {
	if l.hash == nil {
		return Part{}
	}
	return newPart(l.offer.Digest, l.offer.Size, l.received, l.hash)
}
