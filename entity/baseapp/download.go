package baseapp

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/download"
)

const (
	// DefaultDownloadRate is the default of Config.DownloadRate, in bytes a second: a megabyte in
	// four seconds. A client's game takes about a hundredth of it.
	DefaultDownloadRate = 256 << 10
	// downloadQueue is how many bytes of a content wait in a client's channel. On a channel without
	// a bulk stream they count as the client's backlog, and must not make the client a slow one.
	downloadQueue = SlowClient / 2
)

// errNoClient ends a download whose client is gone.
var errNoClient = fmt.Errorf("baseapp: the client is gone: %w", mercury.ErrNoChannel)

// downloads are the contents on their way to clients.
type downloads struct {
	*download.Uploads
	app  *BaseApp
	open []openDownload
}

// openDownload is a download whose end a script wants to hear of.
type openDownload struct {
	ch     mercury.ChannelID
	id     uint32
	base   *base
	method string
}

// newDownloads makes the sending side. It fails if the rate makes no sense.
func (a *BaseApp) newDownloads() (err error) {
	a.downloads.app = a
	rate := a.cfg.DownloadRate
	if rate == 0 {
		rate = DefaultDownloadRate
	}
	a.downloads.Uploads, err = download.NewUploads(download.Over(a.cfg.Transport), &a.downloads, download.UploadConfig{Queue: downloadQueue, MaxRate: rate})
	return err
}

// Download is part of entity.Base's host.
func (b *base) Download(id uint32, desc string, content []byte, method string) error {
	c := b.client()
	if c == nil || b.destroying {
		return entity.ErrNoPart
	}
	if err := script.CheckCallback[entity.DownloadEnd](b.kind, method); err != nil {
		return err
	}
	d := &b.app.downloads
	err := d.Offer(b.app.now, c.ch, download.Content{ID: id, Desc: desc, Source: bytes.NewReader(content), Size: int64(len(content))})
	if err == nil {
		d.open = append(d.open, openDownload{c.ch, id, b, method})
	}
	return err
}

// DownloadProgress is part of entity.Base's host.
func (b *base) DownloadProgress(id uint32) (sent, size int, ok bool) {
	c := b.client()
	if c == nil {
		return 0, 0, false
	}
	n, of, ok := b.app.downloads.Progress(c.ch, id)
	return int(n), int(of), ok
}

// CancelDownload is part of entity.Base's host.
func (b *base) CancelDownload(id uint32) bool {
	c := b.client()
	if c == nil || b.app.downloads.Cancel(c.ch, id) != nil {
		return false
	}
	_, ok := b.app.downloads.take(c.ch, id)
	return ok
}

// tick sends more, and counts what it sent.
func (d *downloads) tick() {
	before := d.Stats().Bytes
	d.Pump(d.app.now)
	d.app.report.BytesDown += d.Stats().Bytes - before
}

// take returns the download that a script has asked for, and forgets it.
func (d *downloads) take(ch mercury.ChannelID, id uint32) (openDownload, bool) {
	i := slices.IndexFunc(d.open, func(o openDownload) bool { return o.ch == ch && o.id == id })
	if i < 0 {
		return openDownload{}, false
	}
	o := d.open[i]
	d.open = slices.Delete(d.open, i, i+1)
	return o, true
}

// UploadEnded implements download.UploadHandler. It tells the script.
func (d *downloads) UploadEnded(_ time.Duration, ch mercury.ChannelID, id uint32, err error) {
	o, ok := d.take(ch, id)
	if !ok || o.base.destroying || o.base.removed || d.app.dismissed {
		return
	}
	callBack(o.base, o.method, entity.DownloadEnd{ID: id, Err: err})
}

// Bulk is part of mercury.BulkHandler. It takes clients' answers about downloads.
func (a *BaseApp) Bulk(now time.Duration, ch mercury.ChannelID, msg []byte) {
	a.now = now
	if c := a.clients[ch]; c != nil && !a.dismissed {
		if a.still() {
			return // all downloads have ended
		}
		c.message(true, msg)
		return
	}
	a.refused("a bulk message without an attached client", "channel", ch)
}

// answer takes a client's answer about a download.
func (c *client) answer(msg []byte) error {
	if most := c.app.cfg.Upload.Messages; !c.messages.take(c.app.now, 1, most) {
		return refusal(protocol.Flooding, "more than %d messages a second", most)
	}
	before := c.app.downloads.Stats().Malformed
	if c.base == nil || !c.app.downloads.Take(c.app.now, c.ch, msg) || c.app.downloads.Stats().Malformed > before {
		return refusal(protocol.Malformed, "a message about a download that makes no sense")
	}
	return nil
}
