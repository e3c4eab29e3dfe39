package cluster

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// quiet is a log that is turned down while a world stops, since its processes then only report that
// the others are leaving.
type quiet struct {
	slog.Handler
	stopping *atomic.Bool
}

// Enabled implements slog.Handler.
func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return q.Handler.Enabled(ctx, l) && (l >= slog.LevelError || !q.stopping.Load())
}

// WithAttrs implements slog.Handler.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(attrs), q.stopping}
}

// WithGroup implements slog.Handler.
func (q quiet) WithGroup(name string) slog.Handler {
	return quiet{q.Handler.WithGroup(name), q.stopping}
}
