-- The orders of Harrow Lane Tea, spring 2026. The shop does not exist.
create table orders (
  number integer primary key,
  ordered text not null,
  delivered text,              -- null: not yet
  carrier text not null,
  region text not null,
  amount real not null,
  note text not null default ''
);
insert into orders values
  (1001, '2026-03-02', '2026-03-04', 'Northway', 'north', 18.40, ''),
  (1002, '2026-03-04', '2026-03-08', 'Pike & Son', 'south', 32.00, 'postponed'),
  (1003, '2026-03-05', '2026-03-07', 'Greenline', 'west', 12.90, ''),
  (1004, '2026-03-06', '2026-03-09', 'Northway', 'east', 45.50, ''),
  (1005, '2026-03-08', '2026-03-13', 'Pike & Son', 'south', 27.20, 'postponed'),
  (1006, '2026-03-09', '2026-03-10', 'Greenline', 'north', 61.00, ''),
  (1007, '2026-03-10', '2026-03-12', 'Northway', 'south', 9.80, ''),
  (1008, '2026-03-12', '2026-03-14', 'Pike & Son', 'west', 18.40, ''),
  (1009, '2026-03-13', '2026-03-16', 'Greenline', 'east', 32.00, ''),
  (1010, '2026-03-14', '2026-03-17', 'Northway', 'south', 12.90, ''),
  (1011, '2026-03-16', '2026-03-20', 'Pike & Son', 'north', 45.50, 'postponed'),
  (1012, '2026-03-17', '2026-03-19', 'Greenline', 'south', 27.20, ''),
  (1013, '2026-03-18', '2026-03-19', 'Northway', 'west', 61.00, ''),
  (1014, '2026-03-20', '2026-03-23', 'Pike & Son', 'east', 9.80, ''),
  (1015, '2026-03-21', '2026-03-25', 'Greenline', 'south', 18.40, ''),
  (1016, '2026-03-22', '2026-03-24', 'Northway', 'north', 32.00, ''),
  (1017, '2026-03-24', '2026-03-29', 'Pike & Son', 'south', 12.90, 'postponed'),
  (1018, '2026-03-25', '2026-03-28', 'Greenline', 'west', 45.50, ''),
  (1019, '2026-03-26', '2026-04-02', 'Northway', 'east', 27.20, ''),
  (1020, '2026-03-28', '2026-04-01', 'Pike & Son', 'south', 61.00, 'postponed'),
  (1021, '2026-03-29', '2026-03-31', 'Greenline', 'north', 9.80, ''),
  (1022, '2026-03-30', '2026-04-02', 'Northway', 'south', 18.40, ''),
  (1023, '2026-04-01', '2026-04-02', 'Pike & Son', 'west', 32.00, ''),
  (1024, '2026-04-02', '2026-04-08', 'Greenline', 'east', 12.90, ''),
  (1025, '2026-04-03', '2026-04-11', 'Northway', 'south', 45.50, ''),
  (1026, '2026-04-05', '2026-04-10', 'Pike & Son', 'north', 27.20, 'postponed'),
  (1027, '2026-04-06', '2026-04-07', 'Greenline', 'south', 61.00, ''),
  (1028, '2026-04-07', '2026-04-09', 'Northway', 'west', 9.80, ''),
  (1029, '2026-04-09', '2026-04-12', 'Pike & Son', 'east', 18.40, ''),
  (1030, '2026-04-10', '2026-04-13', 'Greenline', 'south', 32.00, ''),
  (1031, '2026-04-11', '2026-04-17', 'Northway', 'north', 12.90, ''),
  (1032, '2026-04-13', '2026-04-17', 'Pike & Son', 'south', 45.50, ''),
  (1033, '2026-04-14', '2026-04-16', 'Greenline', 'west', 27.20, ''),
  (1034, '2026-04-15', '2026-04-18', 'Northway', 'east', 61.00, ''),
  (1035, '2026-04-17', '2026-04-19', 'Pike & Son', 'south', 9.80, ''),
  (1036, '2026-04-18', '2026-04-22', 'Greenline', 'north', 18.40, ''),
  (1037, '2026-04-19', '2026-04-28', 'Northway', 'south', 32.00, ''),
  (1038, '2026-04-21', '2026-04-27', 'Pike & Son', 'west', 12.90, ''),
  (1039, '2026-04-22', '2026-04-25', 'Greenline', 'east', 45.50, ''),
  (1040, '2026-04-23', '2026-04-27', 'Northway', 'south', 27.20, ''),
  (1041, '2026-04-25', null, 'Northway', 'north', 22.50, '');

create table carriers (name text primary key, since text not null, price real not null);
insert into carriers values
  ('Greenline', '2024-09-01', 4.10),
  ('Northway', '2021-05-01', 3.60),
  ('Pike & Son', '2019-02-01', 3.20);
