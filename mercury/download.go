package mercury

import (
	"crypto/sha256"
	"errors"
	"io"
	"strconv"
)

// BulkLink is what downloads need of a transport. Endpoint is one. None of its methods calls back.
type BulkLink interface {
	// SendBulk queues a reliable message behind everything else of the channel; bulk messages of a channel arrive whole and in
	// order. msg is copied. ErrFull says that the queue is full, and leaves the channel as it is.
	SendBulk(ch ChannelID, msg []byte) error
	// Backlog is the number of bytes that wait for a first sending. Uploads look at those of bulk messages.
	Backlog(ch ChannelID) (unsent, bulkUnsent int)
}

// Limits of downloads that both ends keep to.
const (
	// MaxDownloadSize is the largest content, 1 TiB: above what any game ships, and sums of sizes cannot overflow.
	MaxDownloadSize = 1 << 40
	// MaxDownloadDesc is the longest description in bytes: a file name and a version, not a document. It is BigWorld's limit.
	MaxDownloadDesc = 254
	// MaxDownloadPiece is the most content in one message: what a sender may make a receiver hold before a byte of it is written.
	MaxDownloadPiece = 64 << 10
)

// Refusals of Uploads and Downloads. Callers branch on them with errors.Is.
var (
	// ErrNoDownload is returned for a download that is not (or no longer) in progress, or not in a state for what was asked.
	ErrNoDownload = errors.New("mercury: no such download")
	// ErrDownloadID is returned by Offer for an ID that is in use on that channel.
	ErrDownloadID = errors.New("mercury: download ID is in use")
	// ErrTooManyDownloads is returned by Offer above UploadConfig.MaxDownloads.
	ErrTooManyDownloads = errors.New("mercury: too many downloads on the channel")
	// ErrDownloadPart is returned for a part that does not belong to the content, or is damaged.
	ErrDownloadPart = errors.New("mercury: part does not belong to the download")
)

// DownloadCode says why a download ended before its time. It is an error, so that errors.Is(err, mercury.DownloadCancelled)
// asks for it. The other end is told the code and nothing else: texts of errors name files and machines.
type DownloadCode uint8

// Codes, as they are on the wire. A newer peer may send others.
const (
	// DownloadCancelled: the app at either end broke it off.
	DownloadCancelled DownloadCode = iota + 1
	// DownloadRefused: the receiving app did not want it.
	DownloadRefused
	// DownloadTooLarge: it is above the receiver's DownloadConfig.MaxSize.
	DownloadTooLarge
	// DownloadTooMany: it is above the receiver's DownloadConfig.MaxDownloads.
	DownloadTooMany
	// DownloadSource: the sender could not read the content.
	DownloadSource
	// DownloadSink: the receiver could not store the content.
	DownloadSink
	// DownloadDigest: what arrived is not what was announced; nothing of it can be kept.
	DownloadDigest
	// DownloadProtocol: an end sent what no sound peer sends.
	DownloadProtocol
	// DownloadTimeout: the receiver did not answer within UploadConfig.AnswerWait.
	DownloadTimeout
)

// Error implements error.
func (c DownloadCode) Error() string {
	switch c {
	case DownloadCancelled:
		return "download cancelled"
	case DownloadRefused:
		return "download refused"
	case DownloadTooLarge:
		return "download too large for the receiver"
	case DownloadTooMany:
		return "too many downloads for the receiver"
	case DownloadSource:
		return "content cannot be read"
	case DownloadSink:
		return "content cannot be stored"
	case DownloadDigest:
		return "content is not what was announced"
	case DownloadProtocol:
		return "peer broke the protocol of downloads"
	case DownloadTimeout:
		return "receiver does not answer"
	}
	return "download ended with code " + strconv.Itoa(int(c))
}

// DownloadError is why a download ended before its time, when its channel was not the reason.
type DownloadError struct {
	// Code says what happened.
	Code DownloadCode
	// Remote is set when the other end said so.
	Remote bool
	// Cause is the error of the source or sink at this end, else nil.
	Cause error
}

// Error implements error.
func (e *DownloadError) Error() string {
	s := "mercury: " + e.Code.Error()
	if e.Remote {
		s += " (said the peer)"
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap gives the code and the cause.
func (e *DownloadError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.Cause}
}

// orCancelled keeps a reason that was forgotten from being taken for success.
func orCancelled(reason error) error {
	if reason == nil {
		return &DownloadError{Code: DownloadCancelled}
	}
	return reason
}

// ContentDigest is the SHA-256 of a content. It names the content: a receiver goes on with what it has of it, over whatever
// channel, and checks the whole at the end.
type ContentDigest [sha256.Size]byte

// IsZero reports whether d is not known.
func (d ContentDigest) IsZero() bool { return d == ContentDigest{} }

// DigestOf reads the first size bytes of a source and returns their digest. It takes as long as reading
// takes, so it is for start-up or for another goroutine, not for a tick.
func DigestOf(source io.ReaderAt, size int64) (ContentDigest, error) {
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(source, 0, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return ContentDigest{}, err
	}
	return ContentDigest(h.Sum(nil)), nil
}

// readFull reads exactly len(p) bytes, whatever a source says beside them.
func readFull(source io.ReaderAt, p []byte, at int64) error {
	n, err := source.ReadAt(p, at)
	switch {
	case n == len(p):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF // the source has shrunk
	}
	return err
}
