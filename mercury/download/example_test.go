package download_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/download"
)

// wire is a link that delivers when it is asked to: in place of an Endpoint.
type wire struct{ msgs [][]byte }

func (w *wire) SendBulk(_ mercury.ChannelID, msg []byte) error {
	w.msgs = append(w.msgs, bytes.Clone(msg))
	return nil
}
func (w *wire) Backlog(mercury.ChannelID) (unsent, bulkUnsent int) { return 0, 0 }

func (w *wire) deliver(take func(msg []byte)) {
	for _, msg := range w.msgs {
		take(msg)
	}
	w.msgs = nil
}

// server says when a client has all of a content.
type server struct{}

func (server) UploadEnded(_ time.Duration, ch mercury.ChannelID, id uint32, err error) {
	fmt.Println("server: download", id, "on channel", ch, "ended:", err)
}

// client keeps the part of a broken download for the next offer of the same content.
type client struct {
	downloads *download.Downloads
	sink      download.Memory
	part      download.Part
}

func (c *client) DownloadOffered(now time.Duration, ch mercury.ChannelID, o download.Offer) {
	part := download.Part{}
	if c.part.Digest == o.Digest {
		part = c.part
	}
	fmt.Printf("client: %s, %d bytes, of which %d are here\n", o.Desc, o.Size, part.Received)
	if err := c.downloads.Accept(now, ch, o.ID, &c.sink, part); err != nil {
		fmt.Println(err)
	}
}

func (c *client) DownloadProgress(time.Duration, mercury.ChannelID, uint32, int64, int64) {}

func (c *client) DownloadEnded(_ time.Duration, _ mercury.ChannelID, id uint32, part download.Part, err error) {
	fmt.Println("client: download", id, "ended:", err)
	c.part = part
}

// A download breaks with its channel, and goes on over the next one.
func ExampleUploads() {
	toClient, toServer := &wire{}, &wire{}
	uploads, err := download.NewUploads(toClient, server{}, download.UploadConfig{Piece: 1000, Queue: 3500})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := &client{}
	c.downloads, err = download.NewDownloads(toServer, c, download.DownloadConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	content := bytes.Repeat([]byte("terrain "), 1000)
	tick := func(now time.Duration, ch mercury.ChannelID) {
		uploads.Pump(now)
		toClient.deliver(func(msg []byte) { c.downloads.Take(now, ch, msg) })
		toServer.deliver(func(msg []byte) { uploads.Take(now, ch, msg) })
	}
	var now time.Duration
	for _, ch := range []mercury.ChannelID{1, 2} {
		err := uploads.Offer(now, ch, download.Content{ID: 7, Desc: "north.terrain", Source: bytes.NewReader(content), Size: int64(len(content))})
		if err != nil {
			fmt.Println(err)
			return
		}
		for range 3 {
			now += 16 * time.Millisecond
			tick(now, ch)
		}
		// The channel closes.
		uploads.AbortAll(now, ch, mercury.ErrTimeout)
		c.downloads.AbortAll(now, ch, mercury.ErrTimeout)
		toClient.msgs, toServer.msgs = nil, nil
	}
	fmt.Println(bytes.Equal(c.sink.Bytes(), content))
	// Output:
	// client: north.terrain, 8000 bytes, of which 0 are here
	// server: download 7 on channel 1 ended: mercury: peer is silent
	// client: download 7 ended: mercury: peer is silent
	// client: north.terrain, 8000 bytes, of which 6000 are here
	// client: download 7 ended: <nil>
	// server: download 7 on channel 2 ended: <nil>
	// true
}
