package spacetest

import (
	"context"
	"log/slog"
	"time"
)

// logger writes with the virtual time: to the game's log, or what is worth a warning to the test's
// output.
func (w *World) logger(game *slog.Logger) *slog.Logger {
	if game != nil {
		return slog.New(timed{game.Handler(), w})
	}
	return slog.New(timed{slog.NewTextHandler(w.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}), w})
}

// timed is a handler whose clock is the world's, which began in 1970.
type timed struct {
	slog.Handler
	w *World
}

// Handle implements slog.Handler.
func (h timed) Handle(ctx context.Context, r slog.Record) error {
	r.Time = time.Unix(0, int64(h.w.Now())).UTC()
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h timed) WithAttrs(attrs []slog.Attr) slog.Handler {
	return timed{h.Handler.WithAttrs(attrs), h.w}
}

// WithGroup implements slog.Handler.
func (h timed) WithGroup(name string) slog.Handler { return timed{h.Handler.WithGroup(name), h.w} }
