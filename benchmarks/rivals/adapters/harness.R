# What the R adapters share: votes from binary files, costs of one run, one line of JSON.
# Called as `Rscript with_X.R TASK FOLDER`.
suppressPackageStartupMessages({library(jsonlite); library(Matrix)})

arguments <- commandArgs(trailingOnly = TRUE)
task <- arguments[1]
folder <- arguments[2]
# Where the adapters are, so that one may source another.
from_disk <- function(name, what = integer(), size = 4) {
  file <- file.path(folder, name)
  readBin(file, what, n = file.info(file)$size / size, size = size)
}

votes_from <- function(prefix = "") {
  columns <- lapply(c("annotator", "left", "right", "choice"), function(name)
    from_disk(paste0(prefix, name, ".bin")))
  setNames(columns, c("annotator", "left", "right", "choice"))
}

sizes <- fromJSON(file.path(folder, "sizes.json"))

sparse_from <- function(name, n_rows) {
  p <- from_disk(paste0(name, "_p.bin"))
  new("dgCMatrix", i = from_disk(paste0(name, "_i.bin")), p = p,
      x = from_disk(paste0(name, "_x.bin"), numeric(), 8),
      Dim = c(as.integer(n_rows), length(p) - 1L))
}

memory <- function(field) {
  lines <- readLines("/proc/self/status")
  line <- lines[startsWith(lines, field)]
  as.numeric(regmatches(line, regexpr("[0-9]+", line))) / 1024
}

# Least share of fresh votes wrong along a path (one column a point), and least log-loss.
best_on_path <- function(margins, choice) {
  signed <- margins * choice
  wrong <- colMeans(signed < 0) + colMeans(signed == 0) / 2
  loss <- colMeans(pmax(-signed, 0) + log1p(exp(-abs(signed))))
  list(wrong = min(wrong), log_loss = min(loss), points = ncol(margins))
}

write_out <- function(values, name) {
  writeBin(as.double(values), file.path(folder, paste0(name, ".out")))
}

# Run `work`, judge what it found, print both.
answer <- function(work, judge) {
  invisible(gc())
  cat("5", file = "/proc/self/clear_refs")
  before <- memory("VmRSS")
  start <- proc.time()
  found <- work()
  spent <- proc.time() - start
  cost <- list(wall = spent[["elapsed"]], cpu = spent[["user.self"]] + spent[["sys.self"]],
               memory = memory("VmHWM") - before)
  cat(toJSON(c(cost, judge(found)), auto_unbox = TRUE, digits = NA), "\n", sep = "")
}

leave_out <- function() cat('{"left_out": "it has nothing for this task"}\n')
