// Package clock reads the time and waits for it.
package clock

import (
	"context"
	"time"
)

// Read does it in every way.
func Read(ctx context.Context) time.Duration {
	start := time.Now()
	now := time.Now // also when it is only handed on
	_ = time.Until(now())
	time.Sleep(1)
	<-time.After(1)
	time.AfterFunc(1, nil)
	<-time.Tick(1)
	_ = time.NewTimer(1)
	_ = time.NewTicker(1)
	_, stop := context.WithTimeout(ctx, 1)
	stop()
	_, stop = context.WithDeadline(ctx, start)
	stop()
	return time.Since(start)
}
