package logs

import (
	"context"
	"fmt"
	"log/slog"
	"math"
)

// Level is how much a process logs, which may change while it runs. Made by Leveled.
type Level struct{ v *slog.LevelVar }

// asMade leaves the choice to the handler that the process was given.
const asMade = slog.Level(math.MinInt32)

// Leveled returns a logger whose level can be set, and the level. Until it is set, the logger is as
// log.
func Leveled(log *slog.Logger) (*slog.Logger, Level) {
	l := Level{new(slog.LevelVar)}
	l.v.Set(asMade)
	return slog.New(&leveled{log.Handler(), l.v}), l
}

// String is the text of the level; "default" while it is not set.
func (l Level) String() string {
	if at := l.v.Level(); at != asMade {
		return at.String()
	}
	return "default"
}

// Set sets the level: a slog.Level such as DEBUG, or "default" for what the handler had been made
// for.
func (l Level) Set(text string) error {
	at := asMade
	if text != "default" {
		if err := at.UnmarshalText([]byte(text)); err != nil {
			return fmt.Errorf("%q is no level: take DEBUG, INFO, WARN, ERROR, or default", text)
		}
	}
	l.v.Set(at)
	return nil
}

// leveled is a handler that asks the level first. A handler's own level is only asked by Enabled,
// so that one that was made for less logs more, too.
type leveled struct {
	slog.Handler
	at *slog.LevelVar
}

// Enabled implements slog.Handler.
func (h *leveled) Enabled(ctx context.Context, l slog.Level) bool {
	if at := h.at.Level(); at != asMade {
		return l >= at
	}
	return h.Handler.Enabled(ctx, l)
}

// WithAttrs implements slog.Handler.
func (h *leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &leveled{h.Handler.WithAttrs(attrs), h.at}
}

// WithGroup implements slog.Handler.
func (h *leveled) WithGroup(name string) slog.Handler {
	return &leveled{h.Handler.WithGroup(name), h.at}
}
