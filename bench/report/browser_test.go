package report

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "write pictures of the page into this folder")

// found is what the page says of itself in a browser.
type found struct {
	Width, Scroll float64  // of the page: it overflows if it can be scrolled sideways
	Outside       []string // elements that reach out of the page, but for those in boxes that scroll
	Pictures      int
	Main          int      // of these, main charts that are shown
	Broken        []string // pictures that are not there, or empty
	Smallest      float64  // height of text in pictures, in pixels
	Faint         []string // words that hardly stand out from what is behind them
	Colors        string   // of ink and paper
}

const ask = `(() => {
  for (const e of document.querySelectorAll('details')) e.open = true;
  const f = {Width: document.documentElement.clientWidth, Scroll: document.documentElement.scrollWidth,
    Outside: [], Pictures: 0, Broken: [], Smallest: 1e9, Faint: []};
  for (const e of document.querySelectorAll('body *')) {
    const box = e.getBoundingClientRect();
    if (!e.closest('.wide table') && (box.right > f.Width + 0.5 || box.left < -0.5)) {
      f.Outside.push(e.tagName + ' ' + e.textContent.slice(0, 40));
    }
  }
  for (const e of document.images) {
    f.Pictures++;
    if (!e.complete || e.naturalWidth === 0) f.Broken.push(e.outerHTML.slice(0, 80));
  }
  const luminance = c => {
    const [r, g, b] = c.match(/[\d.]+/g).map(Number).map(x => x / 255)
      .map(x => x <= 0.04045 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = getComputedStyle(document.body).backgroundColor;
  const contrast = c => {
    const [a, b] = [luminance(c), luminance(back)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  f.Main = [...document.querySelectorAll('.phone svg, .desk svg')].filter(e => e.getClientRects().length).length;
  for (const e of document.querySelectorAll('svg')) {
    if (e.closest('.phone, .desk') && !e.getClientRects().length) continue;
    f.Pictures++;
    const box = e.getBoundingClientRect();
    const named = e.getAttribute('aria-labelledby');
    if (box.width < 100 || box.height < 50 || !e.querySelector('path') || e.getAttribute('role') !== 'img' ||
        !document.getElementById(named)?.textContent) {
      f.Broken.push(e.outerHTML.slice(0, 80));
    }
    for (const t of e.querySelectorAll('text')) {
      const style = getComputedStyle(t);
      f.Smallest = Math.min(f.Smallest, parseFloat(style.fontSize) * box.width / e.viewBox.baseVal.width);
      if (contrast(style.fill) < 4.5) f.Faint.push(style.fill + ' ' + t.textContent);
    }
  }
  for (const e of document.querySelectorAll('p, td, th, a, h1, h2, h3, dt, dd, li, figcaption')) {
    const c = getComputedStyle(e).color;
    if (contrast(c) < 4.5) f.Faint.push(c + ' ' + e.textContent.slice(0, 40));
  }
  f.Colors = getComputedStyle(document.body).color + ' on ' + back;
  return f;
})()`

// chromium returns the path of a Chromium, or skips the test and says so.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("NOT CHECKED: the page in a browser: no Chromium is installed")
	return ""
}

// command is one of the browser's protocol whose answer says nothing.
func command[P, R any](c cdp.Command[P, R], p P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, p)
		return err
	})
}

// In a browser, on a phone and on a desk, by day and by night, the page does not overflow, all its
// pictures are there and can be read, and nothing is loaded.
func TestPageInBrowser(t *testing.T) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox)
	path := filepath.Join(t.TempDir(), "report.html")
	var out bytes.Buffer
	if err := sampleReport(t).WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	var requests atomic.Int64
	err := chromedp.Listen(ctx, func(event any) {
		if _, ok := event.(*network.EventRequestWillBeSent); ok {
			requests.Add(1)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	err = chromedp.Do(ctx, command(network.Enable, network.EnableParams{}), chromedp.Navigate("file://"+path))
	if err != nil {
		t.Fatal(err)
	}
	colors := make(map[string]bool)
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			err := chromedp.Do(ctx,
				command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
					Width: width, Height: 844, DeviceScaleFactor: 1, Mobile: width < 600,
				}),
				command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
				}))
			if err != nil {
				t.Fatal(err)
			}
			f, err := chromedp.Run(ctx, chromedp.Evaluate[found](ask))
			if err != nil {
				t.Fatal(err)
			}
			picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%d-%s", width, scheme)
			if *screenshots != "" {
				if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), picture, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if f.Width != float64(width) || f.Scroll > f.Width || len(f.Outside) > 0 {
				t.Errorf("%s: the page is %v wide and can be scrolled to %v; outside: %q", name, f.Width, f.Scroll, f.Outside)
			}
			if f.Pictures < 6 || f.Main != 1 || len(f.Broken) > 0 {
				t.Errorf("%s: %d pictures, %d main, broken: %q", name, f.Pictures, f.Main, f.Broken)
			}
			if f.Smallest < 9 {
				t.Errorf("%s: text in pictures is %v pixels high", name, f.Smallest)
			}
			if len(f.Faint) > 0 {
				t.Errorf("%s: hard to read: %q", name, f.Faint)
			}
			colors[f.Colors] = true
		}
	}
	if len(colors) != 2 {
		t.Errorf("light and dark are %v", colors)
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("%d requests, want that of the page only", n)
	}
}
