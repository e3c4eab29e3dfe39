package keep

import (
	"bytes"
	"cmp"
	"sync"

	"github.com/cellscape/cellscape/space/recording"
)

// DefaultMaxMemory is the default of Memory.MaxBytes.
const DefaultMaxMemory = 64 << 20

// Memory is a recording.Sink that keeps logs in memory: for tests, and for the last seconds before
// something. Its zero value is ready. Any goroutine may call it.
type Memory struct {
	// MaxBytes bounds what it keeps, default DefaultMaxMemory. What would be beyond is refused.
	MaxBytes int

	mu    sync.Mutex
	bytes int
	logs  []*memoryLog
}

type memoryLog struct {
	m *Memory
	b []byte
}

// Open implements recording.Sink.
func (m *Memory) Open(h *recording.Header) (recording.Stream, error) {
	l := &memoryLog{m: m}
	b := recording.AppendLog(nil, h)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.take(len(b)); err != nil {
		return nil, err
	}
	l.b = b
	m.logs = append(m.logs, l)
	return l, nil
}

func (m *Memory) take(bytes int) error {
	if m.bytes+bytes > cmp.Or(m.MaxBytes, DefaultMaxMemory) {
		return recording.ErrFull
	}
	m.bytes += bytes
	return nil
}

// Append implements recording.Stream.
func (l *memoryLog) Append(chunk []byte) error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if err := l.m.take(len(chunk)); err != nil {
		return err
	}
	l.b = recording.AppendFrame(l.b, chunk)
	return nil
}

// Close implements recording.Stream.
func (l *memoryLog) Close() error { return nil }

// Bytes is how much it keeps.
func (m *Memory) Bytes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}

// Logs are the logs as they are now.
func (m *Memory) Logs() ([]*recording.Log, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	logs := make([]*recording.Log, 0, len(m.logs))
	for _, x := range m.logs {
		l, err := recording.ReadLog(bytes.NewReader(bytes.Clone(x.b)), int64(len(x.b)))
		if err != nil {
			return nil, err
		}
		logs = append(logs, l)
	}
	return logs, nil
}
