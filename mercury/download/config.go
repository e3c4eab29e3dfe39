package download

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/internal/faults"
)

// Defaults of UploadConfig and DownloadConfig.
const (
	// DefaultMaxDownloads is the number of downloads in progress on one channel, enough for the
	// parts of one update.
	DefaultMaxDownloads = 8
	// DefaultMaxSize is 256 MiB: a map or a patch. An app that ships more says so.
	DefaultMaxSize = 256 << 20
	// DefaultUploadQueue is the number of bulk bytes kept waiting in a channel: at 60 calls of Pump
	// a second it feeds 60 Mbit/s; a path of 1 Mbit/s is rid of it in a second after a cancel.
	DefaultUploadQueue = 128 << 10
	// DefaultUploadPiece makes the header of a message a thousandth of it, while 16 fit into
	// DefaultUploadQueue and share it.
	DefaultUploadPiece = 8 << 10
	// DefaultHashPerPump takes about a millisecond of a tick on a processor without SHA
	// instructions.
	DefaultHashPerPump = 256 << 10
	// DefaultAnswerWait outlives a player who is asked whether to download, and the queue of a slow
	// path.
	DefaultAnswerWait = time.Minute
	// DefaultProgressEvery moves a progress bar smoothly enough.
	DefaultProgressEvery = 250 * time.Millisecond
	// maxDownloadRate bounds rates: bytes/s times the nanoseconds of a second stay within 63 bits.
	maxDownloadRate = 1 << 32
)

// UploadConfig says how much Uploads send. Zero values mean the default named beside each field.
type UploadConfig struct {
	// MaxDownloads is the number of downloads in progress, per channel (DefaultMaxDownloads). Offer
	// refuses more.
	MaxDownloads int
	// MaxSize is the largest content in bytes (DefaultMaxSize).
	MaxSize int64
	// Queue is the number of bulk bytes that Pump lets wait in a channel (DefaultUploadQueue): what
	// a receiver still hears of after a cancel, and the most that one call of Pump gives to a
	// channel.
	Queue int
	// Piece is the content of one message in bytes (DefaultUploadPiece), up to MaxPiece. With its
	// header it must be a message that the link takes.
	Piece int
	// HashPerPump is the number of bytes that one call of Pump hashes for all contents without a
	// digest (DefaultHashPerPump).
	HashPerPump int
	// MaxRate is the share of each channel in bytes a second, headers included. 0: what the path
	// has to spare; then the game feels the queue that comes and goes before a bottleneck while its
	// rate is looked for, which it does not below that rate. A share that was not used is not saved
	// up.
	MaxRate int64
	// MaxTotalRate is the share of all channels together in bytes a second. 0: no limit.
	MaxTotalRate int64
	// AnswerWait is how long a receiver may take to answer an offer, and to confirm after the last
	// piece (DefaultAnswerWait).
	AnswerWait time.Duration
}

func (c UploadConfig) withDefaults() UploadConfig {
	c.MaxDownloads = cmp.Or(c.MaxDownloads, DefaultMaxDownloads)
	c.Queue = cmp.Or(c.Queue, DefaultUploadQueue)
	c.Piece = cmp.Or(c.Piece, DefaultUploadPiece)
	c.HashPerPump = cmp.Or(c.HashPerPump, DefaultHashPerPump)
	c.MaxSize = cmp.Or(c.MaxSize, DefaultMaxSize)
	c.AnswerWait = cmp.Or(c.AnswerWait, DefaultAnswerWait)
	return c
}

// Validate reports all faults of c at once, each with its remedy.
func (c UploadConfig) Validate() error {
	d := c.withDefaults()
	all := faults.In("download: UploadConfig.")
	fault := all.If
	fault(d.MaxDownloads < 1, "MaxDownloads is %d: take at least 1", d.MaxDownloads)
	fault(d.MaxSize < 1 || d.MaxSize > MaxSize, "MaxSize is %d: take 1 to %d bytes", d.MaxSize, int64(MaxSize))
	fault(d.Piece < 1 || d.Piece > MaxPiece, "Piece is %d: take 1 to %d bytes", d.Piece, MaxPiece)
	fault(d.Queue < d.Piece+maxDataOverhead, "Queue is %d: take at least %d more than Piece (%d), else nothing is sent", d.Queue, maxDataOverhead, d.Piece)
	fault(d.HashPerPump < 1, "HashPerPump is %d: take at least 1", d.HashPerPump)
	fault(d.MaxRate < 0 || d.MaxRate > maxDownloadRate, "MaxRate is %d: take up to %d bytes/s, or 0 for no limit", d.MaxRate, int64(maxDownloadRate))
	fault(d.MaxTotalRate < 0 || d.MaxTotalRate > maxDownloadRate, "MaxTotalRate is %d: take up to %d bytes/s, or 0 for no limit", d.MaxTotalRate, int64(maxDownloadRate))
	fault(d.AnswerWait < 0, "AnswerWait is %v: take a positive time", d.AnswerWait)
	return all.Err()
}

// UploadStats counts what Uploads did.
type UploadStats struct {
	Offered   uint64 // contents given to Offer
	Finished  uint64 // contents that a receiver has confirmed
	Failed    uint64 // contents that ended otherwise, the cancelled ones included
	Bytes     uint64 // content handed to channels
	Unknown   uint64 // messages for downloads that are not in progress; some come after each cancel
	Malformed uint64 // messages that no sound receiver sends
	Dropped   uint64 // messages dropped for want of room
}

// DownloadConfig says how much Downloads take in. Zero values mean the default named beside each
// field.
type DownloadConfig struct {
	// MaxDownloads is the number of offers and downloads in progress, per channel
	// (DefaultMaxDownloads). More are refused.
	MaxDownloads int
	// MaxSize is the largest content in bytes (DefaultMaxSize). Larger ones are refused before the
	// app is asked.
	MaxSize int64
	// ProgressEvery is the time between two calls of DownloadProgress for one download
	// (DefaultProgressEvery).
	ProgressEvery time.Duration
}

func (c DownloadConfig) withDefaults() DownloadConfig {
	c.MaxDownloads = cmp.Or(c.MaxDownloads, DefaultMaxDownloads)
	c.MaxSize = cmp.Or(c.MaxSize, DefaultMaxSize)
	c.ProgressEvery = cmp.Or(c.ProgressEvery, DefaultProgressEvery)
	return c
}

// Validate reports all faults of c at once, each with its remedy.
func (c DownloadConfig) Validate() error {
	d := c.withDefaults()
	var faults []error
	if d.MaxDownloads < 1 {
		faults = append(faults, fmt.Errorf("download: DownloadConfig.MaxDownloads is %d: take at least 1", d.MaxDownloads))
	}
	if d.MaxSize < 1 || d.MaxSize > MaxSize {
		faults = append(faults, fmt.Errorf("download: DownloadConfig.MaxSize is %d: take 1 to %d bytes", d.MaxSize, int64(MaxSize)))
	}
	if d.ProgressEvery < 0 {
		faults = append(faults, fmt.Errorf("download: DownloadConfig.ProgressEvery is %v: take a positive time", d.ProgressEvery))
	}
	return errors.Join(faults...)
}

// DownloadStats counts what Downloads did.
type DownloadStats struct {
	Offered   uint64 // offers that the app was asked about
	Refused   uint64 // offers above a limit, of which it was not
	Finished  uint64 // downloads that are stored and right
	Failed    uint64 // offers and downloads that ended otherwise, the cancelled ones included
	Bytes     uint64 // content stored
	Unknown   uint64 // messages for downloads that are not in progress; some come after each cancel
	Malformed uint64 // messages that no sound sender sends
	Dropped   uint64 // answers dropped for want of room
}
