package download

import (
	"crypto/sha256"
	"errors"
	"io"
	"strconv"

	"github.com/cellscape/cellscape/mercury"
)

// Link is what downloads need of a transport. Endpoint is one. None of its methods calls back.
type Link interface {
	// SendBulk queues a reliable message behind everything else of the channel; bulk messages of a
	// channel arrive whole and in order. msg is copied. ErrFull says that the queue is full, and
	// leaves the channel as it is.
	SendBulk(ch mercury.ChannelID, msg []byte) error
	// Backlog is the number of bytes that wait for a first sending. Uploads look at those of bulk
	// messages.
	Backlog(ch mercury.ChannelID) (unsent, bulkUnsent int)
}

// Limits of downloads that both ends keep to.
const (
	// MaxSize is the largest content, 1 TiB: above what any game ships, and sums of sizes cannot
	// overflow.
	MaxSize = 1 << 40
	// MaxDesc is the longest description in bytes: a file name and a version, not a document. It is
	// BigWorld's limit.
	MaxDesc = 254
	// MaxPiece is the most content in one message: what a sender may make a receiver hold before a
	// byte of it is written.
	MaxPiece = 64 << 10
)

// Refusals of Uploads and Downloads. Callers branch on them with errors.Is.
var (
	// ErrNoDownload is returned for a download that is not (or no longer) in progress, or not in a
	// state for what was asked.
	ErrNoDownload = errors.New("download: no such download")
	// ErrID is returned by Offer for an ID that is in use on that channel.
	ErrID = errors.New("download: download ID is in use")
	// ErrTooMany is returned by Offer above UploadConfig.MaxDownloads.
	ErrTooMany = errors.New("download: too many downloads on the channel")
	// ErrPart is returned for a part that does not belong to the content, or is damaged.
	ErrPart = errors.New("download: part does not belong to the download")
)

// Code says why a download ended before its time. It is an error, so that errors.Is(err,
// mercury.Cancelled) asks for it. The other end is told the code and nothing else: texts of errors
// name files and machines.
type Code uint8

// Codes, as they are on the wire. A newer peer may send others.
const (
	// Cancelled: the app at either end broke it off.
	Cancelled Code = iota + 1
	// Refused: the receiving app did not want it.
	Refused
	// TooLarge: it is above the receiver's DownloadConfig.MaxSize.
	TooLarge
	// TooMany: it is above the receiver's DownloadConfig.MaxDownloads.
	TooMany
	// SourceFailed: the sender could not read the content.
	SourceFailed
	// SinkFailed: the receiver could not store the content.
	SinkFailed
	// WrongDigest: what arrived is not what was announced; nothing of it can be kept.
	WrongDigest
	// BrokenProtocol: an end sent what no sound peer sends.
	BrokenProtocol
	// TimedOut: the receiver did not answer within UploadConfig.AnswerWait.
	TimedOut
)

// Error implements error.
func (c Code) Error() string {
	switch c {
	case Cancelled:
		return "download cancelled"
	case Refused:
		return "download refused"
	case TooLarge:
		return "download too large for the receiver"
	case TooMany:
		return "too many downloads for the receiver"
	case SourceFailed:
		return "content cannot be read"
	case SinkFailed:
		return "content cannot be stored"
	case WrongDigest:
		return "content is not what was announced"
	case BrokenProtocol:
		return "peer broke the protocol of downloads"
	case TimedOut:
		return "receiver does not answer"
	}
	return "download ended with code " + strconv.Itoa(int(c))
}

// Error is why a download ended before its time, when its channel was not the reason.
type Error struct {
	// Code says what happened.
	Code Code
	// Remote is set when the other end said so.
	Remote bool
	// Cause is the error of the source or sink at this end, else nil.
	Cause error
}

// Error implements error.
func (e *Error) Error() string {
	s := "download: " + e.Code.Error()
	if e.Remote {
		s += " (said the peer)"
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap gives the code and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.Cause}
}

// orCancelled keeps a reason that was forgotten from being taken for success.
func orCancelled(reason error) error {
	if reason == nil {
		return &Error{Code: Cancelled}
	}
	return reason
}

// Digest is the SHA-256 of a content. It names the content: a receiver goes on with what it has of
// it, over whatever channel, and checks the whole at the end.
type Digest [sha256.Size]byte

// IsZero reports whether d is not known.
func (d Digest) IsZero() bool { return d == Digest{} }

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
