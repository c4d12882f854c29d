(function () {
  "use strict";
  var all = function (where, what) { return Array.prototype.slice.call(where.querySelectorAll(what)); };

  /* Sorting: a button in every head; a third press does not exist, up and down alternate. */
  function valueOf(row, index, isNumber) {
    var cell = row.cells[index];
    if (!isNumber) { return cell.textContent; }
    return cell.hasAttribute("data-v") ? Number(cell.getAttribute("data-v")) : null;
  }
  function sortBy(table, index, isNumber, isDown) {
    var body = table.tBodies[0], sign = isDown ? -1 : 1;
    var rows = Array.prototype.map.call(body.rows, function (row, place) {
      return { row: row, place: place, value: valueOf(row, index, isNumber) };
    });
    rows.sort(function (a, b) {
      if (a.value === b.value) { return a.place - b.place; }
      if (a.value === null) { return 1; }
      if (b.value === null) { return -1; }
      if (isNumber) { return sign * (a.value - b.value); }
      return sign * a.value.localeCompare(b.value, undefined, { numeric: true }) || a.place - b.place;
    });
    var piece = document.createDocumentFragment();
    rows.forEach(function (item) { piece.appendChild(item.row); });
    body.appendChild(piece);
  }
  all(document, "table.data").forEach(function (table) {
    var heads = all(table, "thead th");
    heads.forEach(function (head, index) {
      var isNumber = head.getAttribute("data-kind") === "number";
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.textContent = "";
      head.appendChild(button);
      button.addEventListener("click", function () {
        var now = head.getAttribute("aria-sort");
        var isDown = now ? now === "ascending" : isNumber;
        heads.forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
        sortBy(table, index, isNumber, isDown);
      });
    });
  });

  /* Filtering: rows that hold every word. */
  all(document, ".filter").forEach(function (box) {
    var input = box.querySelector("input"), output = box.querySelector("output");
    var table = document.getElementById(input.getAttribute("data-for"));
    box.hidden = false;
    input.addEventListener("input", function () {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
      Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
        var text = Array.prototype.map.call(row.cells, function (cell) {
          return cell.textContent + " " + (cell.title || "");
        }).join(" ").toLowerCase();
        row.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
        if (!row.hidden) { shown += 1; }
      });
      output.textContent = words.length ? shown + " of " + table.tBodies[0].rows.length + " rows" : "";
    });
  });

  /* Legends: pointing at a method, or focusing it, brings out its line; a press keeps it. */
  all(document, ".with-legend").forEach(function (plot) {
    var series = all(plot, "svg.chart .series"), keys = all(plot, ".key"), held = null;
    function show(method) {
      plot.classList.toggle("is-lit", method !== null);
      series.forEach(function (group) {
        group.classList.toggle("lit", group.getAttribute("data-method") === method);
      });
    }
    keys.forEach(function (key) {
      var method = key.getAttribute("data-method");
      key.addEventListener("mouseenter", function () { show(method); });
      key.addEventListener("focus", function () { show(method); });
      key.addEventListener("mouseleave", function () { show(held); });
      key.addEventListener("blur", function () { show(held); });
      key.addEventListener("click", function () {
        held = held === method ? null : method;
        keys.forEach(function (other) {
          other.setAttribute("aria-pressed", String(other.getAttribute("data-method") === held));
        });
        show(held === null ? null : method);
      });
    });
  });

  /* Downloads, from the record inside the page. */
  var holder = document.getElementById("tamis-comparison");
  var record = JSON.parse(holder.textContent), name = holder.getAttribute("data-name");
  function csvCell(value) {
    if (value === null || value === undefined) { return ""; }
    if (typeof value !== "string") { return String(value); }
    /* A spreadsheet would run a text that starts like a formula. */
    var text = /^[=+\-@\t\r]/.test(value) ? "'" + value : value;
    return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }
  function csv(heads, rows) {
    return [heads].concat(rows).map(function (row) { return row.map(csvCell).join(","); }).join("\r\n") + "\r\n";
  }
  function pick(fields, rows, data) {
    return rows.map(function (row) {
      return [data.name].concat(fields.map(function (field) { return row[field]; }));
    });
  }
  function gather(fields, rowsOf) {
    var rows = [];
    record.data.forEach(function (data) { rows = rows.concat(pick(fields, rowsOf(data), data)); });
    return csv(["data"].concat(fields), rows);
  }
  var makers = {
    table: function () { return csv(record.table.fields, record.table.rows); },
    scores: function () {
      return gather(["method", "learner", "metric", "count", "mean", "low", "high", "n"],
        function (data) { return data.scores; });
    },
    columns: function () {
      return gather(["index", "name", "share", "low", "high", "mean_rank"], function (data) {
        var answer = data.answer;
        return !answer ? [] : answer.columns.map(function (column, i) {
          return { index: answer.indices[i], name: column, share: answer.shares[i], low: answer.shares_low[i],
            high: answer.shares_high[i], mean_rank: answer.mean_ranks[i] };
        });
      });
    },
    json: function () { return JSON.stringify(record, null, 1) + "\n"; }
  };
  document.getElementById("downloads").hidden = false;
  all(document, "[data-download]").forEach(function (button) {
    button.addEventListener("click", function () {
      var what = button.getAttribute("data-download"), isJson = what === "json";
      var blob = new Blob([makers[what]()], { type: isJson ? "application/json" : "text/csv;charset=utf-8" });
      var link = document.createElement("a"), address = URL.createObjectURL(blob);
      link.href = address;
      link.download = name + (isJson ? ".json" : "-" + what + ".csv");
      document.body.appendChild(link);
      link.click();
      link.remove();
      setTimeout(function () { URL.revokeObjectURL(address); }, 10000);
    });
  });
}());
