package main

import (
	"bytes"
	"fmt"
	"math"

	"github.com/cellscape/cellscape/bsp"
)

// Measures of the picture, in pixels.
const (
	pictureMargin = 24.0
	frameSide     = 230.0
	frameGap      = 14.0
	framesInRow   = 6
	captionHeight = 20.0
	graphHeight   = 240.0
	axisWidth     = 44.0
)

// style is for light and dark; no fonts are fetched.
const style = `<style>
svg { background: #fff; color: #1d2733; font: 12px system-ui, sans-serif }
text { fill: currentColor } .title { font-size: 16px; font-weight: 600 } .soft { opacity: .65 }
.grid { stroke: currentColor; stroke-opacity: .15 } .frame { fill: none; stroke: currentColor; stroke-opacity: .35 }
.cell { stroke: currentColor; stroke-opacity: .55; stroke-width: .8 } .retiring { stroke-dasharray: 3 2; stroke-opacity: 1 }
.dots { stroke: currentColor; stroke-opacity: .55; stroke-width: 1.5; stroke-linecap: round }
.band { fill: #3b82c4; fill-opacity: .3 } .mean { fill: none; stroke: #3b82c4; stroke-width: 1.6 }
.count { fill: none; stroke: #c26a1a; stroke-width: 1.4 } .counted { fill: #c26a1a }
@media (prefers-color-scheme: dark) { svg { background: #14191f; color: #dbe3ea } }
</style>
`

// drawing is a picture in the making.
type drawing struct{ bytes.Buffer }

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.Buffer, format+"\n", args...) }

func (d *drawing) text(x, y float64, class, format string, args ...any) {
	d.add(`<text x="%.1f" y="%.1f"%s>%s</text>`, x, y, class, fmt.Sprintf(format, args...))
}

// draw makes the film strip of the cuts, and below it the graph of loads over time.
func (l *lab) draw(s *summary) []byte {
	rows := (len(l.cuts) + framesInRow - 1) / framesInRow
	width := 2*pictureMargin + framesInRow*frameSide + (framesInRow-1)*frameGap
	graphTop := pictureMargin + 44 + float64(rows)*(frameSide+captionHeight+frameGap) + 24
	height := graphTop + graphHeight + 56
	d := &drawing{}
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img">`, width, height, width, height)
	d.WriteString(style)
	d.text(pictureMargin, pictureMargin+12, ` class="title"`, "%s, policy %s: %d entities, %d CellApps, %.0f km, seed %d", s.Scenario, s.Policy, s.Entities, s.CellApps, s.Size/1000, s.Seed)
	d.text(pictureMargin, pictureMargin+32, ` class="soft"`, "cells by load: blue lighter, red heavier than the average; dashed: retiring; dots: a sample of the crowd")
	average := l.averageAt()
	for i := range l.cuts {
		x := pictureMargin + float64(i%framesInRow)*(frameSide+frameGap)
		y := pictureMargin + 44 + float64(i/framesInRow)*(frameSide+captionHeight+frameGap)
		d.frame(&l.cuts[i], l.manager.world, average(&l.cuts[i]), x, y)
	}
	d.graph(l.seconds, s.WarmUp, pictureMargin+axisWidth, graphTop, width-2*pictureMargin-2*axisWidth)
	d.add("</svg>")
	return d.Bytes()
}

// averageAt returns the average load at the time of a cut.
func (l *lab) averageAt() func(*cut) float64 {
	return func(c *cut) float64 {
		for i := range l.seconds {
			if l.seconds[i].at == c.at {
				return l.seconds[i].mean
			}
		}
		return 0
	}
}

// frame draws one cut.
func (d *drawing) frame(c *cut, world bsp.Rect, average, x, y float64) {
	scale := frameSide / (world.MaxX - world.MinX)
	at := func(px, pz float64) (float64, float64) { // z points up
		return x + (px-world.MinX)*scale, y + (world.MaxZ-pz)*scale
	}
	for _, cell := range c.cells {
		left, top := at(cell.rect.MinX, cell.rect.MaxZ)
		right, bottom := at(cell.rect.MaxX, cell.rect.MinZ)
		class := "cell"
		if cell.retiring {
			class = "cell retiring"
		}
		colour, depth := shade(cell.load, average)
		d.add(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" fill-opacity="%.2f"><title>load %.3f</title></rect>`,
			class, left, top, right-left, bottom-top, colour, depth, cell.load)
	}
	d.WriteString(`<path class="dots" d="`)
	for _, p := range c.dots {
		px, py := at(p.x, p.z)
		fmt.Fprintf(&d.Buffer, "M%.1f %.1fh0", px, py)
	}
	d.add(`"/>`)
	d.add(`<rect class="frame" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, x, y, frameSide, frameSide)
	d.text(x, y+frameSide+15, "", "%.0f s, %d cells", c.at.Seconds(), len(c.cells))
}

// fullShade is the deviation from the average at which a cell has its full colour.
const fullShade = 0.25

func shade(load, average float64) (colour string, depth float64) {
	off := apart(load-average, average)
	colour = "#3b82c4"
	if off > 0 {
		colour = "#d1402f"
	}
	return colour, 0.06 + 0.64*min(1, math.Abs(off)/fullShade)
}

// graph draws the range and the average of loads over time, and the number of cells.
func (d *drawing) graph(seconds []second, warm int, x, y, width float64) {
	top, most := 0.0, 1
	for i := range seconds {
		if s := &seconds[i]; i >= warm {
			top = max(top, s.most)
		}
		most = max(most, seconds[i].cells)
	}
	top = niceAbove(max(top, 0.01))
	mostCells := niceAbove(float64(most))
	px := func(i int) float64 { return x + width*float64(i+1)/float64(len(seconds)) }
	py := func(v, full float64) float64 { return y + graphHeight*(1-min(1, v/full)) }
	d.text(x-axisWidth, y-10, "", "load of a CellApp: least, average, most")
	d.add(`<text class="counted" x="%.1f" y="%.1f" text-anchor="end" style="fill:#c26a1a">cells</text>`, x+width+axisWidth, y-10)
	for i := range 5 {
		f := float64(i) / 4
		at := y + graphHeight*(1-f)
		d.add(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x, at, x+width, at)
		d.add(`<text x="%.1f" y="%.1f" text-anchor="end">%.3g</text>`, x-6, at+4, top*f)
		d.text(x+width+6, at+4, "", "%.3g", mostCells*f)
	}
	d.WriteString(`<path class="band" d="`)
	for i := range seconds {
		d.stroke(i, px(i), py(seconds[i].most, top))
	}
	for i := len(seconds) - 1; i >= 0; i-- {
		d.stroke(1, px(i), py(seconds[i].least, top))
	}
	d.add(`Z"/>`)
	d.line("mean", seconds, px, func(s *second) float64 { return py(s.mean, top) })
	d.line("count", seconds, px, func(s *second) float64 { return py(float64(s.cells), mostCells) })
	d.add(`<line class="frame" stroke-dasharray="4 3" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, px(warm-1), y, px(warm-1), y+graphHeight)
	d.text(px(warm-1)+4, y+12, ` class="soft"`, "end of the warm-up")
	for i := range 7 {
		at := len(seconds) * i / 6
		d.add(`<text x="%.1f" y="%.1f" text-anchor="middle">%d s</text>`, px(at-1), y+graphHeight+18, at)
	}
}

func (d *drawing) line(class string, seconds []second, px func(int) float64, py func(*second) float64) {
	fmt.Fprintf(&d.Buffer, `<path class="%s" d="`, class)
	for i := range seconds {
		d.stroke(i, px(i), py(&seconds[i]))
	}
	d.add(`"/>`)
}

// stroke adds a point to a path; the first begins it.
func (d *drawing) stroke(i int, x, y float64) {
	command := 'L'
	if i == 0 {
		command = 'M'
	}
	fmt.Fprintf(&d.Buffer, "%c%.1f %.1f", command, x, y)
}

// niceAbove is a round number at or above a positive one.
func niceAbove(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 4, 6, 8} {
		if v <= f*unit*1.0001 {
			return f * unit
		}
	}
	return 10 * unit
}
